/** What the scene can show: each layer says what it needs from the server, how it is drawn, and what its colours mean. */

import { drawFinds, findsLegend } from "./finds";
import { folded } from "./folded";
import type { Detail, PartLayer, TeamLayer } from "./generated";
import type { Drawn, Hello } from "./messages";
import type { Model } from "./model";
import { NOTHING, tint, type Style } from "./scene/cells";
import type { Pen, Point } from "./scene/overlay";
import { FLAGS } from "./scene/robots";
import { cross, drawFlights } from "./scene/flights";
import { lineColor, robotColor, SCALE, type Colors } from "./theme";
import type { Numbers } from "./wire";

/** What the colours of a layer mean: pairs of colour and words, or a scale with a number at either end. */
export type Legend =
  | { keys: [color: string, words: string][] }
  | { scale: [low: string, high: string]; colors?: string[]; words?: string };

/** What a layer knows when it is drawn. */
export interface Context {
  model: Model;
  hello: Hello;
  colors: Colors;
  /** Length of the scales of time [s]. */
  span_s: number;
  /** Radius of the symbol of a robot [pixel]. */
  radius: (robot: number) => number;
  /** Whether walls have their height. */
  deep: boolean;
}

/** A layer of cells at the server, and a detail. */
export type Cells = TeamLayer | `${PartLayer}:${string}`;
export type Watched = Detail | Drawn;

export interface LayerInfo {
  name: string;
  group: string;
  title: string;
  /** One sentence for who points at it. */
  about?: string;
  /** Whether it is shown at first. */
  on?: (hello: Hello) => boolean;
  /** Whether this run has it. */
  there?: (hello: Hello) => boolean;
  /** Why it shows nothing now; empty if it shows something. */
  lacks?: (context: Context) => string;
  /** Layers of cells at the server, and details of robots. */
  cells?: (model: Model) => Cells[];
  details?: Watched[];
  /** Layers of cells that it does not draw, but needs for its scale. */
  needs?: Cells[];
  /** How its cells are coloured, and which layers lie above others. */
  style?: (context: Context) => Style;
  order?: number;
  /** Numbers of its style that change: uniforms by name. */
  values?: (context: Context) => Record<string, number>;
  draw?: (pen: Pen, context: Context) => void;
  /** Whether it lies below the robots. */
  below?: boolean;
  /** Whether it is words on robots, over all else. */
  words?: boolean;
  legend?: (context: Context) => Legend;
}

/** The robot that layers of one robot are about: the one that was selected last, or the only one. */
export function theRobot(model: Model): string | null {
  const robots = model.hello?.robots ?? [];
  const i = [...model.selected].at(-1) ?? (robots.length === 1 ? 0 : -1);
  return robots[i]?.name ?? null;
}

/** The groups of the panel, in order. */
export const GROUPS = ["World", "Robots", "Sensors", "Add-ons", "Radio", "Explored and covered", "Heat maps", "Maps of the robots"];

const has = (name: TeamLayer) => (hello: Hello) => hello.layers.includes(name);
const some = (kind: PartLayer) => (hello: Hello) => hello.layers.some((name) => name.startsWith(`${kind}:`));
const flat = (hello: Hello) => !hello.world.ground;

/** The colour of free places; dark only where seeing them makes them light. */
const floor = (colors: Colors, hello: Hello): string => (has("first_explored")(hello) ? colors.free : colors.explored);

/** The layer of a kind of the selected robot. */
function ofRobot(kind: PartLayer): Pick<LayerInfo, "there" | "cells" | "lacks"> {
  const cells = (model: Model): Cells[] => {
    const name: Cells = `${kind}:${theRobot(model)}`;
    return model.hello!.layers.includes(name) ? [name] : [];
  };
  const lacks = ({ model }: Context): string =>
    !theRobot(model) ? "Select a robot to see it." : cells(model).length ? "" : `${theRobot(model)} has none.`;
  return { there: some(kind), cells, lacks };
}

export function data(context: Context, name: string): Numbers | null {
  return context.model.arrays.get(name)?.data ?? null;
}

/** Details that are known of each step of a run that lasts, see `follow` of the live player. */
const OF_THE_PAST: Watched[] = ["links", "tags"];

/** Why a layer shows nothing, or not what was then; empty if it shows something. */
export function lackOf(info: LayerInfo, context: Context): string {
  const looksBack = context.hello.mode === "live" && context.model.shown !== null;
  if (looksBack && info.details?.some((name) => !OF_THE_PAST.includes(name))) return "Known of now only, until the run has ended.";
  return info.lacks?.(context) ?? "";
}

function explored(condition: string) {
  return ({ colors, hello }: Context): Style =>
    hello.world.ground
      ? { glsl: `if (!(${condition})) color = vec4(0.05, 0.07, 0.1, 0.38);` }
      : { uniforms: { explored: tint(colors.explored) }, glsl: `if (${condition}) color = vec4(explored, 1.0);` };
}

function exploredLegend({ colors, hello }: Context): Legend {
  return { keys: hello.world.ground ? [["#5a5f66", "not seen yet: darker"]] : [[colors.explored, "seen"]] };
}

/** Age of what happened at a step, on the scale: new is bright. */
function age(first: boolean): Pick<LayerInfo, "style" | "values" | "legend"> {
  return {
    style: () => ({
      uniforms: { span: { value: 1 } },
      glsl: first
        ? "if (value >= 0.0 && value <= step) color = vec4(scale(value / span), 0.85);"
        : "if (value >= 0.0 && value <= step) color = vec4(scale(1.0 - (step - value) / span), 0.85);",
    }),
    values: ({ span_s, hello }) => ({ span: span_s / hello.step_s }),
    legend: ({ span_s }) =>
      first
        ? { scale: ["0 s", seconds(span_s)], words: "time of the run at the first look" }
        : { scale: [`${seconds(span_s)} ago`, "now"], words: "time since then" },
  };
}

/** How many robots were there. */
const count: Pick<LayerInfo, "style" | "values" | "legend"> = {
  style: () => ({
    uniforms: { most: { value: 2 } },
    glsl: "if (value > 0.5) color = vec4(scale(most < 1.5 ? 0.0 : (value - 1.0) / (most - 1.0)), 0.85);",
  }),
  values: ({ hello }) => ({ most: hello.robots.length }),
  legend: ({ hello }) => ({ scale: ["1 robot", `${hello.robots.length} robots`] }),
};

/** A heat map: its layer of the team, and the kind of those of robots and groups; without one it is known of the team only. */
function heat(team: TeamLayer, kind?: PartLayer): Pick<LayerInfo, "there" | "cells" | "lacks"> {
  const cells = (model: Model): Cells[] => {
    const who = model.heatOf === "robot" ? theRobot(model) : model.heatOf;
    const name: Cells | undefined = who === "team" ? team : kind && `${kind}:${who}`;
    return name && model.hello!.layers.includes(name) ? [name] : [];
  };
  const lacks = ({ model }: Context): string =>
    model.heatOf === "robot" && !theRobot(model) ? "Select a robot to see it." : cells(model).length ? "" : "Known of the team only.";
  return { there: has(team), cells, lacks };
}

/** The largest value of a layer of counts, rounded up; found once for each of its states. */
const counted = new WeakMap<object, [version: number, most: number]>();
function most({ model }: Context, name: string | undefined): number {
  const layer = name ? model.layers.get(name) : undefined;
  if (!layer) return 2;
  const known = counted.get(layer);
  if (known?.[0] === layer.version) return known[1];
  let found = 0;
  for (const value of layer.cells) if (value > found) found = value;
  const size = 10 ** Math.floor(Math.log10(Math.max(found, 1)));
  const round = Math.max([1, 2, 5, 10].find((one) => one * size >= found)! * size, 2);
  counted.set(layer, [layer.version, round]);
  return round;
}

const VISITS = heat("visits", "visits");

function seconds(value: number): string {
  const round = (number: number) => String(Number(number.toPrecision(3)));
  return value < 600 ? `${round(value)} s` : value < 36000 ? `${round(value / 60)} min` : `${round(value / 3600)} h`;
}

const MAP: Pick<LayerInfo, "style" | "legend"> = {
  style: ({ colors }) => ({
    uniforms: { mapFree: tint(colors.mapFree), mapWall: tint(colors.mapWall) },
    glsl: "if (value < 0.5) color = vec4(mapFree, 0.92); else if (value > 50.0 && value < 150.0) color = vec4(mapWall, 1.0);",
  }),
  legend: ({ colors, hello }) => ({
    keys: [
      [colors.mapFree, hello.world.ground ? "drivable" : "free"],
      [colors.mapWall, hello.world.ground ? "not drivable" : "occupied"],
    ],
  }),
};

/** Metres on a scale between two values. */
function metres(low: (c: Context) => number, high: (c: Context) => number, diverging = false): Pick<LayerInfo, "style" | "values" | "legend"> {
  const text = (value: number) => `${value.toFixed(Math.abs(value) < 1 ? 2 : 1)} m`;
  return {
    style: () => ({
      uniforms: { low: { value: 0 }, high: { value: 1 } },
      glsl: diverging
        ? `if (value > ${NOTHING.toFixed(1)} * 0.5) {
             float t = clamp(value / high, -1.0, 1.0);
             color = vec4(t < 0.0 ? mix(vec3(0.97), vec3(0.13, 0.4, 0.67), -t) : mix(vec3(0.97), vec3(0.7, 0.09, 0.17), t), 0.9);
           }`
        : `if (value > ${NOTHING.toFixed(1)} * 0.5) color = vec4(scale((value - low) / (high - low)), 0.9);`,
    }),
    values: (context) => ({ low: low(context), high: high(context) }),
    legend: (context) => ({
      scale: [text(low(context)), text(high(context))],
      ...(diverging ? { colors: ["#2166ac", "#f7f7f7", "#b2182b"] } : {}),
    }),
  };
}

/** Lowest and highest true altitude [m]; found once for each state of the ground. */
const ranges = new WeakMap<object, [version: number, low: number, high: number]>();
export function altitudes(model: Model): [number, number] {
  const layer = model.layers.get("ground");
  if (!layer) return [0, 1];
  const known = ranges.get(layer);
  if (known && known[0] === layer.version) return [known[1], known[2]];
  let [low, high] = [Infinity, -Infinity];
  for (const value of layer.cells) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (!(high > low)) high = low + 1;
  ranges.set(layer, [layer.version, low, high]);
  return [low, high];
}

/** Connected groups of robots that hear each other over hops: a number for each robot. */
export function groups(links: Iterable<readonly [number, number]>, n: number): number[] {
  const root = Array.from({ length: n }, (_, i) => i);
  const find = (i: number): number => (root[i] === i ? i : (root[i] = find(root[i])));
  for (const [a, b] of links) root[find(a)] = find(b);
  const numbers = new Map<number, number>();
  return root.map((_, i) => {
    const top = find(i);
    if (!numbers.has(top)) numbers.set(top, numbers.size);
    return numbers.get(top)!;
  });
}

function pairs(links: Numbers): [number, number][] {
  return Array.from({ length: links.length / 2 }, (_, k) => [links[2 * k], links[2 * k + 1]]);
}

/** Short label of a robot: the number at the end of its name. */
function numberOf(name: string): string {
  return /\d+$/.exec(name)?.[0] ?? name;
}

function labels(text: (i: number) => string) {
  return (pen: Pen, { model, hello, colors, radius }: Context): void => {
    const pose = model.poses();
    if (!pose) return;
    const ring = (i: number) => (model.selected.has(i) ? 6 : 0); // around what is selected
    const discs = hello.robots.map((_, i): Disc => [...pen.at(pose[3 * i], pose[3 * i + 1]), radius(i) + ring(i)]);
    for (const { position_m: [x, y] } of hello.targets ?? []) discs.push([...pen.at(x, y), 9]);
    const room = new Room(discs);
    const order = [...model.selected, ...hello.robots.keys()];
    pen.g.font = "600 12px system-ui, sans-serif";
    for (const i of new Set(order)) {
      const words = text(i);
      if (!words) continue;
      const [u, v, r] = discs[i];
      const width = pen.g.measureText(words).width;
      const beside = [r + 4, -r - 4 - width];
      const sides = [[beside[0], 0], [-width / 2, r + 9], [-width / 2, -r - 9], [beside[1], 0], ...beside.flatMap((dx) => [[dx, r + 4], [dx, -r - 4]])];
      sides.some(([dx, dy]) => room.isFree(u + dx, v - dy, width, i) && pen.text(words, pose[3 * i], pose[3 * i + 1], colors.ink, colors.paper, dx, dy, false));
    }
  };
}

type Disc = [u: number, v: number, radius: number];
const BIN = 40;

/** Where words lie on no disc [pixel]; discs are found by squares of the screen. */
export class Room {
  private bins = new Map<string, number[]>();

  constructor(private discs: Disc[]) {
    discs.forEach(([u, v, r], k) => this.each(u - r, u + r, v - r, v + r, (bin) => void this.bins.set(bin, [...(this.bins.get(bin) ?? []), k])));
  }

  /** Whether words from `left` on, around the height `middle`, lie on no disc but that of a number. */
  isFree(left: number, middle: number, width: number, own: number): boolean {
    const [top, bottom] = [middle - 6, middle + 6];
    let free = true;
    this.each(left, left + width, top, bottom, (bin) => {
      for (const k of this.bins.get(bin) ?? []) {
        const [u, v, r] = this.discs[k];
        const away = Math.hypot(u - Math.min(Math.max(u, left), left + width), v - Math.min(Math.max(v, top), bottom));
        if (k !== own && away < r + 1) free = false;
      }
    });
    return free;
  }

  private each(left: number, right: number, top: number, bottom: number, run: (bin: string) => void): void {
    for (let x = Math.floor(left / BIN); x <= Math.floor(right / BIN); x++)
      for (let y = Math.floor(top / BIN); y <= Math.floor(bottom / BIN); y++) run(`${x} ${y}`);
  }
}

/** Points of an ellipse of twice the deviation; `of`: variance of x, covariance, variance of y [m2]. */
function ellipse(x: number, y: number, of: Numbers): Point[] {
  const [xx, xy, yy] = of;
  const along = Math.sqrt(xx); // the lower triangle of Cholesky's factor, times a circle
  const lean = along > 0 ? xy / along : 0;
  const across = Math.sqrt(Math.max(yy - lean * lean, 0));
  return Array.from({ length: 80 }, (_, k) => {
    const [c, s] = [Math.cos((k * Math.PI) / 40), Math.sin((k * Math.PI) / 40)];
    return [x + 2 * along * c, y + 2 * (lean * c + across * s)];
  });
}

/** Text of the last note of each robot, by its name. */
const notes = folded(() => new Map<string, string>(), (last, { kind, robot, text }) => kind === "note" && robot && last.set(robot, text ?? ""));

const STUCK = new Set(["stuck", "stands", "fell", "rolled"]);
/** Robots that are stuck. */
export const stuckNow = folded(() => new Set<string>(), (now, { kind, robot }) => {
  if (!robot) return;
  if (STUCK.has(kind)) now.add(robot);
  else if (["freed", "righted", "stands_over"].includes(kind)) now.delete(robot);
});

/** Where robots have given up goals, and left frontiers: x, y [m]. */
export const givenUp = folded(() => ({ goals: [] as Point[], frontiers: [] as Point[] }), ({ goals, frontiers }, { kind, x, y }) => {
  if (x == null || y == null) return;
  if (kind === "gave_up") goals.push([x, y]);
  if (kind === "frontier_left") frontiers.push([x, y]);
});

/** Who is driven by hand, by name, and the place to which it has been sent [m]; null: it is driven. */
export const driven = folded(() => new Map<string, Point | null>(), (now, { kind, robot, data }) => {
  if (kind === "driven") now.set(robot!, data?.goal_m ? [data.goal_m[0], data.goal_m[1]] : null);
  else if (kind === "drive_over") now.delete(robot!);
});

const DIAMOND: Point[] = [[0, -6], [6, 0], [0, 6], [-6, 0]];

export const LAYERS: LayerInfo[] = [
  {
    name: "ground",
    group: "World",
    title: "Ground",
    about: "The landscape, coloured by its altitude and lit from the north-west.",
    on: () => true,
    there: has("ground"),
    cells: () => ["ground"],
    legend: ({ model }) => {
      const [low, high] = altitudes(model);
      return { scale: [`${low.toFixed(1)} m`, `${high.toFixed(1)} m`], colors: GROUND };
    },
  },
  {
    name: "slope",
    group: "World",
    title: "Slope",
    about: "How steep the true ground is.",
    there: has("ground"),
    cells: () => ["ground"],
    order: 2,
    style: ({ hello, model }) => ({
      uniforms: { wide: { value: 2 * (model.layers.get("ground")?.place.resolution_m ?? hello.world.resolution_m) } },
      glsl: `
        vec2 rise = vec2(near(1.0, 0.0) - near(-1.0, 0.0), near(0.0, 1.0) - near(0.0, -1.0)) / wide;
        color = vec4(scale(degrees(atan(length(rise))) / ${STEEP}.0), 0.9);`,
    }),
    legend: () => ({ scale: ["0°", `${STEEP}° and more`] }),
  },
  {
    name: "truth",
    group: "World",
    title: "Walls",
    about: "The world as it is now, with its doors and obstacles.",
    on: () => true,
    there: has("truth"),
    cells: () => ["truth"],
    order: 0,
    style: ({ colors, hello }) => ({
      uniforms: {
        wall: tint(colors.wall),
        free: tint(floor(colors, hello)),
        unknown: tint(colors.unknown),
        bare: { value: hello.world.ground ? 0 : 1 },
        deep: { value: 0 },
      },
      glsl: `
        if (value < 0.5 || (value < 1.5 && deep > 0.5)) color = vec4(free, bare);
        else if (value < 2.5) color = vec4(value < 1.5 ? wall : unknown, 1.0);`,
    }),
    values: ({ deep }) => ({ deep: deep ? 1 : 0 }),
    legend: ({ colors, hello }) => ({
      keys: hello.world.ground ? [[colors.wall, "wall"]] : [[colors.wall, "wall"], [floor(colors, hello), "free"]],
    }),
  },
  {
    name: "standing",
    group: "World",
    title: "Walls over what was seen",
    about: "Walls, shut doors and obstacles of now, drawn over what was explored and covered there before.",
    on: () => true,
    there: has("truth"),
    cells: () => ["truth"],
    order: 4.5, // over what was seen, below the robots' maps
    style: ({ colors }) => ({
      uniforms: { wall: tint(colors.wall), deep: { value: 0 } },
      glsl: "if (value > 0.5 && value < 1.5 && deep < 0.5) color = vec4(wall, 1.0);",
    }),
    values: ({ deep }) => ({ deep: deep ? 1 : 0 }),
  },
  {
    name: "starts",
    group: "World",
    title: "Starts",
    about: "Where the robots began.",
    there: (hello) => hello.robots.some((robot) => robot.start),
    draw: (pen, { hello, colors }) =>
      hello.robots.forEach(({ start }, i) => {
        if (!start) return;
        const [x, y, heading] = start;
        const color = lineColor(i, hello.robots.length, colors);
        const at = (r: number, a: number): Point => [r * Math.cos(heading + a), r * Math.sin(heading + a)];
        pen.shape(x, y, [at(7, 0), at(6, 2.5), at(6, -2.5)], color, undefined, 1.5);
      }),
    legend: ({ hello, colors }) => ({ keys: [[lineColor(0, hello.robots.length, colors), "△ start and heading, in the colour of the robot"]] }),
  },
  {
    name: "waypoints",
    group: "World",
    title: "Waypoints and their idleness",
    about: "The places to patrol; the brighter and larger, the longer nobody has been there.",
    on: () => true,
    there: (hello) => Array.isArray(hello.mission.waypoints_m),
    details: ["waypoints"],
    draw: (pen, context) => {
      const { hello, colors, span_s } = context;
      const points = hello.mission.waypoints_m as [number, number][];
      for (const [a, b] of (hello.mission.edges ?? []) as [number, number][]) pen.line([points[a], points[b]], colors.link, 1);
      const idle = data(context, "idleness_s");
      points.forEach(([x, y], k) => {
        const t = idle ? Math.min(idle[k] / span_s, 1) : 0;
        pen.ring(x, y, 4 + 4 * t, colors.ink, 1, idle ? onScale(t) : colors.paper);
        if (idle && points.length <= 60) pen.text(`${Math.round(idle[k])} s`, x, y, colors.ink, colors.paper, 13, 0, false, 11);
      });
    },
    legend: ({ span_s }) => ({ scale: ["0 s", seconds(span_s)], words: "time since the last visit" }),
  },
  {
    name: "finds",
    group: "World",
    title: "Targets",
    about: "People and fires to find: filled when found; what cameras and robots told wrongly; and where robots met.",
    on: () => true,
    there: (hello) => Boolean(hello.targets?.length),
    draw: drawFinds,
    legend: findsLegend,
  },
  {
    name: "given-up",
    group: "World",
    title: "Given up",
    about: "Goals that robots have given up, and frontiers that they have left; the list of events says why.",
    on: () => true,
    draw: (pen, { model, colors }) => {
      const { goals, frontiers } = givenUp(model);
      for (const [x, y] of frontiers) {
        pen.shape(x, y, DIAMOND, colors.paper, undefined, 5);
        pen.shape(x, y, DIAMOND, colors.frontier, colors.paper, 2);
      }
      for (const [x, y] of goals) cross(pen, x, y, colors.bad, colors.paper);
    },
    legend: ({ model, colors }) => {
      const { goals, frontiers } = givenUp(model);
      const keys: [string, string][] = [];
      if (goals.length) keys.push([colors.bad, "✕ goal that was given up"]);
      if (frontiers.length) keys.push([colors.frontier, "◇ frontier that was left"]);
      return { keys };
    },
  },
  {
    name: "targets",
    group: "World",
    title: "Targets of the order",
    about: "The places at which the team is to stand.",
    on: (hello) => "order" in hello.mission,
    details: ["targets"],
    lacks: (context) => (data(context, "target") ? "" : "There is no order."),
    draw: (pen, context) => {
      const places = data(context, "target");
      const order = context.model.frame?.order as { objective_m: [number, number]; within_m: number } | undefined;
      if (!places || !order) return;
      for (let k = 0; k < places.length; k += 2) {
        const [x, y] = [places[k], places[k + 1]];
        const r = order.within_m / pen.view.pixel_m;
        if (r > 6) pen.ring(x, y, r, context.colors.accent, 2, undefined, [4, 3]);
        else pen.ring(x, y, 2, context.colors.accent, 1.5, context.colors.paper);
      }
      const [x, y] = order.objective_m;
      pen.shape(x, y, [[-8, 0], [8, 0]], context.colors.accent, undefined, 2, false);
      pen.shape(x, y, [[0, -8], [0, 8]], context.colors.accent, undefined, 2, false);
    },
    legend: ({ colors }) => ({ keys: [[colors.accent, "◌ place, + objective"]] }),
  },
  {
    name: "tags",
    group: "World",
    title: "Tags",
    about: "What robots have left in the environment.",
    on: () => true,
    details: ["tags"],
    draw: (pen, context) => {
      const tags = data(context, "tag");
      if (!tags) return;
      const names = new Map(context.hello.robots.map(({ name }, i) => [name, i]));
      const told = (context.model.frame?.tags ?? []) as [string, number, string][];
      for (let k = 0; k < tags.length / 2; k++) {
        const owner = names.get(told[k]?.[0]) ?? 0;
        const square: Point[] = [[-4, -4], [4, -4], [4, 4], [-4, 4]];
        pen.shape(tags[2 * k], tags[2 * k + 1], square, context.colors.ink, robotColor(owner, names.size), 1);
      }
    },
    legend: ({ colors }) => ({ keys: [[colors.place, "■ in the colour of the robot that left it"]] }),
  },

  {
    name: "explored",
    group: "Explored and covered",
    title: "Explored by the team",
    about: "Places that some robot has truly seen.",
    on: () => true,
    there: has("first_explored"),
    cells: () => ["first_explored"],
    order: 1,
    style: explored("value >= 0.0 && value <= step"),
    legend: exploredLegend,
  },
  {
    name: "other-explored",
    group: "Explored and covered",
    title: "Explored by the other run",
    about: "Places that the other run had seen by the same time.",
    there: has("other_explored"),
    cells: () => ["other_explored"],
    order: 2,
    style: ({ colors }) => ({
      uniforms: { other: tint(colors.place) },
      glsl: "if (value >= 0.0 && value <= step) color = vec4(other, 0.4);",
    }),
    legend: ({ colors }) => ({ keys: [[colors.place, "seen by the other run: alone where dark, by both where light"]] }),
  },
  {
    name: "explored-by",
    group: "Explored and covered",
    title: "Explored by the robot",
    about: "Places that the selected robot has truly seen itself.",
    ...ofRobot("explored"),
    order: 2,
    style: ({ colors }) => ({ uniforms: { mine: tint(colors.place) }, glsl: "if (value > 0.5) color = vec4(mine, 0.35);" }),
    legend: ({ colors, model }) => ({ keys: [[colors.place, `seen by ${theRobot(model)}`]] }),
  },
  {
    name: "searched",
    group: "Explored and covered",
    title: "Searched walls",
    about: "Places before walls: whether a camera has been able to read a marker there.",
    on: (hello) => Boolean(hello.targets?.length),
    there: has("searched_walls"),
    cells: () => ["searched_walls"],
    order: 4.6, // over the walls and what was seen
    style: ({ colors }) => ({
      uniforms: { searched: tint(colors.searched), left: tint(colors.left) },
      glsl: "if (value > -1.5) color = vec4(value >= 0.0 && value <= step ? searched : left, 1.0);",
    }),
    legend: ({ colors }) => ({ keys: [[colors.searched, "searched"], [colors.left, "not yet"]] }),
  },
  {
    name: "covered",
    group: "Explored and covered",
    title: "Covered",
    about: "Places that some body has passed over.",
    on: (hello) => hello.mission.kind === "coverage",
    there: has("last_covered"),
    cells: ({ hello }) => [hello!.layers.includes("first_covered") ? "first_covered" : "last_covered"],
    order: 3,
    style: ({ colors }) => ({
      uniforms: { covered: tint(colors.covered) },
      glsl: "if (value >= 0.0 && value <= step) color = vec4(covered, 0.9);",
    }),
    legend: ({ colors }) => ({ keys: [[colors.covered, "covered"]] }),
  },

  {
    name: "first-seen",
    group: "Heat maps",
    title: "First seen",
    about: "When the place was first seen; of robots and groups some steps late.",
    ...heat("first_explored", "first_seen"),
    order: 4,
    ...age(true),
  },
  {
    name: "last-seen",
    group: "Heat maps",
    title: "Last seen",
    about: "When the place was last seen; some steps late.",
    ...heat("last_explored", "last_seen"),
    order: 4,
    ...age(false),
  },
  {
    name: "last-covered",
    group: "Heat maps",
    title: "Last covered",
    about: "When some body was last over the place.",
    ...heat("last_covered"),
    order: 4,
    ...age(false),
  },
  {
    name: "seen-by",
    group: "Heat maps",
    title: "Robots that saw it",
    about: "Overlap, work that was done several times: how many robots have seen the place; of a robot, what it has seen.",
    ...heat("seen_by", "overlap"),
    order: 4,
    ...count,
  },
  {
    name: "passed-by",
    group: "Heat maps",
    title: "Robots that passed it",
    about: "How many robots have passed over the place.",
    ...heat("passed_by"),
    order: 4,
    ...count,
  },
  {
    name: "visits",
    group: "Heat maps",
    title: "Visits",
    about: "How often bodies came onto the place, counted from the start.",
    ...VISITS,
    order: 4,
    style: count.style,
    values: (context) => ({ most: most(context, VISITS.cells!(context.model)[0]) }),
    legend: (context) => ({ scale: ["1 visit", `${most(context, VISITS.cells!(context.model)[0])} visits`] }),
  },

  {
    name: "union",
    group: "Maps of the robots",
    title: "Merged map",
    about: "All evidence of all robots, as if each knew everything.",
    there: has("union"),
    cells: () => ["union"],
    order: 5,
    ...MAP,
  },
  {
    name: "map",
    group: "Maps of the robots",
    title: "Map of the robot",
    about: "What the selected robot believes.",
    ...ofRobot("map"),
    order: 6,
    ...MAP,
  },
  {
    name: "frontiers",
    group: "Maps of the robots",
    title: "Frontiers",
    about: "Free places beside unknown ones, in the map of the selected robot, or in the merged map.",
    there: (hello) => flat(hello) && some("map")(hello),
    cells: (model) => {
      const names: Cells[] = [`map:${theRobot(model)}`, "union"];
      return names.filter((name) => model.hello!.layers.includes(name)).slice(0, 1);
    },
    order: 7,
    style: ({ colors }) => ({
      uniforms: { frontier: tint(colors.frontier) },
      glsl: `
        float next = max(max(near(1.0, 0.0), near(-1.0, 0.0)), max(near(0.0, 1.0), near(0.0, -1.0)));
        if (value < 0.5 && next > 200.0) color = vec4(frontier, 1.0);`,
    }),
    legend: ({ colors, model }) => ({ keys: [[colors.frontier, `free beside unknown, ${theRobot(model) ?? "merged map"}`]] }),
  },
  {
    name: "altitude",
    group: "Maps of the robots",
    title: "Believed altitude",
    ...ofRobot("altitude"),
    needs: ["ground"],
    order: 6,
    ...metres(({ model }) => altitudes(model)[0], ({ model }) => altitudes(model)[1]),
  },
  {
    name: "error",
    group: "Maps of the robots",
    title: "Error of the altitude",
    about: "Believed minus true altitude.",
    ...ofRobot("error"),
    order: 6,
    ...metres(() => -0.2, () => 0.2, true),
  },
  {
    name: "interval",
    group: "Maps of the robots",
    title: "Uncertainty of the altitude",
    about: "Half the 95 % interval of the belief.",
    ...ofRobot("interval"),
    order: 6,
    ...metres(() => 0, () => 0.5),
  },

  {
    name: "trails",
    group: "Robots",
    title: "Trails",
    on: () => true,
  },
  {
    name: "numbers",
    group: "Robots",
    title: "Numbers",
    words: true,
    on: () => true,
    draw: (pen, context) => labels((i) => numberOf(context.hello.robots[i].name))(pen, context),
  },
  {
    name: "names",
    group: "Robots",
    title: "Names",
    words: true,
    draw: (pen, context) => labels((i) => context.hello.robots[i].name)(pen, context),
  },
  {
    name: "notes",
    group: "Robots",
    title: "Notes",
    words: true,
    about: "The last note that each robot wrote.",
    draw: (pen, context) => {
      const { model, hello, colors, radius } = context;
      const pose = model.poses();
      if (!pose) return;
      hello.robots.forEach(({ name }, i) => {
        const words = notes(model).get(name);
        if (words) pen.text(words.slice(0, 40), pose[3 * i], pose[3 * i + 1], colors.ink, colors.paper, radius(i) + 4, -14, false, 11);
      });
    },
  },
  {
    name: "paths",
    group: "Robots",
    title: "Paths and goals",
    about: "Where the robots are going, as they plan it.",
    on: (hello) => hello.robots.length <= 30,
    details: ["paths"],
    lacks: ({ model }) => (model.frame?.lacks_paths as string | undefined) ?? "",
    draw: (pen, context) => {
      const { hello, model, colors } = context;
      const [path, begin, pose] = [data(context, "path"), data(context, "path_of"), model.poses()];
      if (!pose) return;
      const n = hello.robots.length;
      const flags = model.arrays.get("flags")?.data;
      for (let i = 0; i < n; i++) {
        const sent = driven(model).get(hello.robots[i].name);
        const ahead: Point[] = sent ? [sent] : [];
        for (let k = begin?.[i] ?? 0; sent === undefined && k < (begin?.[i + 1] ?? 0); k++) ahead.push([path![2 * k], path![2 * k + 1]]);
        if (!ahead.length || ((flags?.[i] ?? 0) & (FLAGS.halted | FLAGS.gone))) continue;
        const [[x0, y0], [x1, y1]] = [[pose[3 * i], pose[3 * i + 1]], ahead[0]];
        const clear = Math.min((context.radius(i) * pen.view.pixel_m) / Math.max(Math.hypot(x1 - x0, y1 - y0), 1e-6), 1);
        const color = lineColor(i, n, colors);
        pen.line([[x0 + clear * (x1 - x0), y0 + clear * (y1 - y0)], ...ahead], color, 2, sent ? [1, 6] : [5, 4]);
        const [x, y] = ahead.at(-1)!;
        pen.ring(x, y, 5, colors.paper, 4);
        pen.ring(x, y, 5, color, 2);
        pen.ring(x, y, 1.5, color, 0, color);
      }
    },
    legend: ({ model, hello, colors }) => {
      const sent = [...driven(model).values()].some(Boolean) ? ", ┈ to where it was sent" : "";
      return { keys: [[lineColor(0, hello.robots.length, colors), `╌ path, ◎ goal${sent}, in the colour of the robot`]] };
    },
  },
  {
    name: "lidar",
    group: "Robots",
    title: "Lidar",
    about: "The newest scan of the selected robots, with its errors.",
    details: ["lidar"],
    lacks: ({ model }) => (model.selected.size ? "" : "Select a robot to see it."),
    draw: (pen, context) => {
      const [rays, begin, at] = [data(context, "lidar"), data(context, "lidar_of"), data(context, "lidar_at")];
      if (!rays || !begin || !at) return;
      const n = context.hello.robots.length;
      for (let k = 0; k < at.length / 3; k++) {
        const [robot, x, y] = [at[3 * k], at[3 * k + 1], at[3 * k + 2]];
        const color = lineColor(robot, n, context.colors);
        const points: Point[] = [[x, y]];
        for (let r = begin[k]; r < begin[k + 1]; r++) points.push([rays[3 * r], rays[3 * r + 1]]);
        pen.area(points, color, 0.15);
        pen.g.globalAlpha = 0.35;
        const every = Math.max(1, Math.round((begin[k + 1] - begin[k]) / 90));
        for (let r = 1; r < points.length; r += every) pen.line([[x, y], points[r]], color, 0.6);
        pen.g.globalAlpha = 1;
        for (let r = begin[k]; r < begin[k + 1]; r++)
          if (rays[3 * r + 2]) pen.ring(rays[3 * r], rays[3 * r + 1], 1.6, color, 0, color);
      }
    },
    legend: ({ hello, model, colors }) => ({ keys: [[lineColor([...model.selected][0] ?? 0, hello.robots.length, colors), "• hit, in the colour of the robot"]] }),
  },
  {
    name: "visible",
    group: "Robots",
    title: "Visible area",
    about: "What lidars and tag cameras of the selected robots could see now.",
    details: ["visible"],
    lacks: ({ model }) => (model.selected.size ? "" : "Select a robot to see it."),
    draw: (pen, context) => {
      const [area, at] = [data(context, "visible"), data(context, "visible_at")];
      if (!area || !at) return;
      for (let k = 0; k < at.length / 3; k++) {
        const points: Point[] = [[at[3 * k + 1], at[3 * k + 2]]];
        for (let r = 361 * k; r < 361 * (k + 1); r++) points.push([area[2 * r], area[2 * r + 1]]);
        pen.area(points, context.colors.place, 0.22);
        pen.line(points, context.colors.place, 1, [], true);
      }
    },
    legend: ({ colors }) => ({ keys: [[colors.place, "in sight now"]] }),
  },
  {
    name: "estimates",
    group: "Robots",
    title: "Estimated poses",
    about: "Where the robots believe to be; an ellipse of twice the deviation, where the localization has one.",
    details: ["estimates"],
    draw: (pen, context) => {
      const { hello, model, radius, colors } = context;
      const [estimate, spread, pose] = [data(context, "estimate"), data(context, "estimate_spread"), model.poses()];
      if (!estimate || !pose) return;
      hello.robots.forEach((_, i) => {
        const [x, y, heading] = [estimate[3 * i], estimate[3 * i + 1], estimate[3 * i + 2]];
        const color = lineColor(i, hello.robots.length, colors);
        pen.line([[pose[3 * i], pose[3 * i + 1]], [x, y]], colors.frontier, 1.5);
        const r = radius(i) + 2;
        pen.ring(x, y, r, color, 1.5, undefined, [3, 3]);
        pen.shape(x, y, [[0, 0], [r * Math.cos(heading), r * Math.sin(heading)]], color, undefined, 1.5, false);
        if (spread && spread[3 * i] + spread[3 * i + 2] > 0) pen.line(ellipse(x, y, spread.subarray(3 * i, 3 * i + 3)), colors.frontier, 1.5, [], true);
      });
    },
    legend: (context) => {
      const spread = data(context, "estimate_spread");
      const known = spread && [...spread].some((value) => value > 0);
      const without = !spread ? "the deviation is not recorded" : known ? "" : [...spread].some(Number.isNaN) ? "this localization tells no deviation" : "no deviation: the estimates are exact";
      return {
        keys: [
          [context.colors.link, "◌ estimate"],
          [context.colors.frontier, known ? "error, and an ellipse of twice the deviation" : "error"],
          ...(without ? [["transparent", without] as [string, string]] : []),
        ],
      };
    },
  },

  {
    name: "links",
    group: "Radio",
    title: "Links",
    about: "Robots that hear each other now; the thinner, the more packets are lost.",
    details: ["links"],
    draw: (pen, context) => {
      const [link, chance, pose] = [data(context, "link"), data(context, "link_chance"), context.model.poses()];
      if (!link || !chance || !pose) return;
      pairs(link).forEach(([a, b], k) => {
        pen.g.globalAlpha = 0.25 + 0.6 * chance[k];
        const ends: Point[] = [[pose[3 * a], pose[3 * a + 1]], [pose[3 * b], pose[3 * b + 1]]];
        pen.line(ends, context.colors.link, 0.6 + 1.6 * chance[k], chance[k] < 0.5 ? [2, 5] : []);
      });
      pen.g.globalAlpha = 1;
    },
    legend: ({ colors, model }) => {
      const all = (model.frame?.links_in_all as number | undefined) ?? 0;
      const drawn = (model.arrays.get("link")?.data.length ?? 0) / 2;
      const more: [string, string][] = all > drawn ? [["transparent", `the ${drawn} shortest of ${all}`]] : [];
      return { keys: [[colors.link, "— all packets get through, thin: few, dots: less than half"], ...more] };
    },
  },
  {
    name: "groups",
    group: "Radio",
    title: "Connected groups",
    about: "Robots that reach one another, over others if need be, have one letter and colour.",
    details: ["links"],
    draw: (pen, context) => {
      const [link, pose] = [data(context, "link"), context.model.poses()];
      if (!link || !pose) return;
      const n = context.hello.robots.length;
      groups(pairs(link), n).forEach((group, i) => {
        const [x, y] = [pose[3 * i], pose[3 * i + 1]];
        const color = lineColor(group, n, context.colors);
        pen.g.globalAlpha = 0.9;
        pen.ring(x, y, context.radius(i) + 6, color, 4);
        pen.g.globalAlpha = 1;
        pen.text(letter(group), x, y, context.colors.ink, context.colors.paper, -context.radius(i) - 18, 0, false, 11);
      });
    },
    legend: ({ hello, colors }) => ({ keys: [[lineColor(0, hello.robots.length, colors), "◯ ring and letter of the group"]] }),
  },
  {
    name: "messages",
    group: "Radio",
    title: "Messages in flight",
    about: "Each message on its way from the sender to who gets it, or misses it.",
    details: ["messages"],
    lacks: ({ model }) => (model.frame?.messages === 0 ? "Nothing has been sent yet." : ""),
    draw: drawFlights,
    legend: ({ colors, hello }) => ({
      keys: [
        [lineColor(0, hello.robots.length, colors), "● in the colour of the sender; larger: more bytes"],
        [colors.bad, "✕ does not arrive, and why"],
      ],
    }),
  },
];

/** Slope at the end of its scale [degrees]. */
const STEEP = 45;

/** Colours of the ground, low to high. */
export const GROUND = ["#3d5a4c", "#7c8f5e", "#b7a777", "#d9cbaa", "#f4f0e8"];

function letter(k: number): string {
  return k < 26 ? String.fromCharCode(65 + k) : `${letter(Math.floor(k / 26) - 1)}${letter(k % 26)}`;
}

/** A colour of the scale, for t from 0 to 1. */
function onScale(t: number): string {
  return SCALE[Math.round(Math.min(Math.max(t, 0), 1) * (SCALE.length - 1))];
}

