/** What the scene can show: each layer says what it needs from the server, how it is drawn, and what its colours mean. */

import type { Hello } from "./messages";
import type { Model } from "./model";
import { tint, type Style } from "./scene/cells";
import type { Pen } from "./scene/overlay";
import type { Colors } from "./theme";

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
  trail_s: number;
}

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
  cells?: (model: Model) => string[];
  details?: string[];
  /** How its cells are coloured, and which layers lie above others. */
  style?: (context: Context) => Style;
  order?: number;
  /** Numbers of its style that change: uniforms by name. */
  values?: (context: Context) => Record<string, number>;
  draw?: (pen: Pen, context: Context) => void;
  legend?: (context: Context) => Legend;
}

/** The robot that layers of one robot are about: the one that was selected last. */
export function theRobot(model: Model): string | null {
  const i = [...model.selected].at(-1);
  return i === undefined ? null : (model.hello?.robots[i]?.name ?? null);
}

function of(kind: string) {
  return (model: Model): string[] => {
    const name = `${kind}:${theRobot(model)}`;
    return model.hello!.layers.includes(name) ? [name] : [];
  };
}

function some(prefix: string) {
  return (hello: Hello): boolean => hello.layers.some((name) => name.startsWith(prefix));
}

const has = (name: string) => (hello: Hello) => hello.layers.includes(name);

function selectFirst(kind: string) {
  return ({ model }: Context): string => {
    if (!theRobot(model)) return "Select a robot.";
    return of(kind)(model).length ? "" : `${theRobot(model)} has none.`;
  };
}

export const LAYERS: LayerInfo[] = [
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
      uniforms: { wall: tint(colors.wall), free: tint(colors.free), unknown: tint(colors.unknown), bare: { value: hello.world.ground ? 0 : 1 } },
      glsl: "color = value < 0.5 ? vec4(free, bare) : value < 1.5 ? vec4(wall, 1.0) : value < 2.5 ? vec4(unknown, 1.0) : vec4(0.0);",
    }),
    legend: ({ colors, hello }) => ({
      keys: hello.world.ground ? [[colors.wall, "wall"]] : [[colors.wall, "wall"], [colors.free, "free"]],
    }),
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
];

function explored(condition: string) {
  return ({ colors, hello }: Context): Style =>
    hello.world.ground
      ? { uniforms: { sky: tint(colors.ink) }, glsl: `if (!(${condition})) color = vec4(0.05, 0.07, 0.1, 0.45);` }
      : { uniforms: { explored: tint(colors.explored) }, glsl: `if (${condition}) color = vec4(explored, 1.0);` };
}

function exploredLegend({ colors, hello }: Context): Legend {
  return { keys: hello.world.ground ? [["#3a3f45", "not seen yet: darker"]] : [[colors.explored, "seen"]] };
}

void selectFirst;
void some;
