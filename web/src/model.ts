/** What the page knows of the run: what never changes, the newest state, and what it has seen so far. */

import { Changes } from "./changes";
import { unpackMarks, type Mark, type Packed } from "./drawn";
import type { EventInfo, FrameHeader, Hello, Place } from "./messages";
import { known, NEWEST_EVENTS, NEWEST_LINKS, newestOfEachKind, roomFor, Series, summedUp, thinned, type LinkChange, type Poses } from "./past";
import type { Arrays, Header, NumberArray, Numbers } from "./wire";

export const TILE = 32;

/** One layer of cells. */
export interface CellLayer {
  name: string;
  place: Place;
  cells: Numbers;
  /** Tiles that have changed, see `mark`. */
  dirty: number[];
  version: number;
}

/** Notes that a tile has changed. Who draws the layer reads the list from where it stopped; a new list means all. */
export function mark(layer: CellLayer, tile: number): void {
  if (layer.dirty.length >= 20_000) layer.dirty = [];
  layer.dirty.push(tile);
}

/** What a frame tells of one time: arrays, and measurements of the robots: name, then a value for each robot. */
export interface Told {
  arrays: Arrays;
  measures: Map<string, Numbers>;
}

export class Model {
  hello: Hello | null = null;
  frame: FrameHeader | null = null;
  /** How the run is going to begin, while it gets ready. */
  waiting: { playing: boolean; factor: number | null } | null = null;
  /** What was told at the step that is shown. */
  arrays: Arrays = new Map();
  /** What was told last. */
  newest: Told = { arrays: new Map(), measures: new Map() };
  /** What sensors and add-ons draw, by layer. */
  drawn = new Map<string, Mark[]>();
  layers = new Map<string, CellLayer>();
  /** The poses that the page has, by step. */
  history: Poses[] = [];
  /** The events; if old ones are dropped, this is a new list. */
  events: EventInfo[] = [];
  /** Number of events that have been dropped. */
  leftOut = 0;
  /** Measurements of the mission: name, then values beside `times`; of a run that lasts at the steps of the history. */
  series = new Map<string, (number | null)[]>();
  times: number[] = [];
  /** What the robots and the team measured, if somebody looks at it. */
  measured = new Series();
  /** Measurements of the robots: name, then a value for each robot. */
  measures = new Map<string, Numbers>();
  /** Pairs of robots that hear each other: "i j". */
  links = new Set<string>();
  linkChanges: LinkChange[] = [];
  /** Changes of layers of cells, which are taken back while an earlier step is shown. */
  changes: Changes[] = [];
  /** Step that is shown; null: the newest. */
  shown: number | null = null;
  /** Numbers of the selected robots, in the order in which they were selected. */
  selected = new Set<number>();
  /** Of whom heat maps are: "team", "robot" (the selected one), or "group NAME". */
  heatOf = "team";
  /** Called before the listeners; a recording then brings everything to the step that is shown. */
  prepare: (() => void) | null = null;
  private listeners = new Set<() => void>();
  private mostEvents = 2 * NEWEST_EVENTS;
  private mostLinks = 2 * NEWEST_LINKS;

  onChange(listener: () => void): void {
    this.listeners.add(listener);
  }

  changed(): void {
    this.prepare?.();
    for (const listener of this.listeners) listener();
  }

  /** Selects robots instead of those that are selected. */
  select(robots: Iterable<number>): void {
    this.selected = new Set(robots);
    this.changed();
  }

  /** Begins anew: the server describes the run. */
  begin(hello: Hello): void {
    const chosen = [...this.selected].map((i) => this.hello?.robots[i]?.name);
    this.hello = hello;
    this.waiting = null;
    this.frame = null;
    this.arrays = new Map();
    this.drawn = new Map();
    this.measures = new Map();
    this.newest = { arrays: this.arrays, measures: this.measures };
    this.layers.clear();
    this.forget();
    this.selected = new Set(chosen.map((name) => hello.robots.findIndex((robot) => robot.name === name)).filter((i) => i >= 0));
  }

  private forget(): void {
    this.history = [];
    this.events = [];
    this.leftOut = 0;
    this.links.clear();
    this.linkChanges = [];
    this.changes = [];
    this.measured.clear();
    [this.times, this.series] = [[], new Map()];
    [this.mostEvents, this.mostLinks] = [2 * NEWEST_EVENTS, 2 * NEWEST_LINKS];
  }

  /** Takes in what the run has been before the page joined. A frame follows. */
  takePast(header: Header, arrays: Arrays): void {
    this.forget();
    const data = (name: string) => arrays.get(name)!.data;
    this.takeTrail(data("step"), arrays.get("pose")!, arrays, "team:");
    this.takeEvents(header.events as EventInfo[]);
    this.leftOut += header.left_out as number;
    const links = data("links");
    for (let k = 0; k < links.length; k += 4) this.takeLink([...links.subarray(k, k + 4)] as unknown as LinkChange);
    this.takeChanges(arrays);
    this.takeSamples(header.measures_then as string[], arrays);
  }

  takeLayer(name: string, place: Place, cells: Numbers): void {
    this.layers.set(name, { name, place, cells: cells.slice(), dirty: [], version: 1 });
    this.changed();
  }

  takeFrame(frame: FrameHeader, arrays: Arrays): void {
    this.frame = frame;
    this.newest.arrays = arrays;
    const drawn = Object.keys(frame).filter((name) => /^(addon|sensor):/.test(name));
    this.drawn = new Map(drawn.map((name) => [name, unpackMarks(frame[name] as Packed, arrays, `${name}/`)]));
    if (this.shown !== null && this.shown > frame.step) this.shown = null; // another run, after a restart
    this.takeEvents(frame.events);
    for (const change of frame.links) this.takeLink(change);
    for (const one of this.changes) one.follow(Infinity); // tiles are of now
    this.takeTiles(arrays);
    this.takeChanges(arrays);
    this.takePoses(frame, arrays);
    this.takeMeasures(frame, arrays);
    this.changed();
  }

  /** The poses to show: float32 (n, 3). */
  poses(): Float32Array | null {
    if (this.shown !== null) return this.posesAt(this.shown)?.pose ?? null;
    return (this.arrays.get("pose")?.data as Float32Array | undefined) ?? this.history.at(-1)?.pose ?? null;
  }

  /** The newest known poses at or before a step. */
  posesAt(step: number): Poses | null {
    return this.history[this.indexAt(step)] ?? null;
  }

  /** Where in the history they are. */
  indexAt(step: number): number {
    let low = 0;
    let high = this.history.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.history[middle].step <= step) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  /** Whether it has all poses of a recording; what can wait is asked for then. */
  get complete(): boolean {
    return this.hello?.mode !== "replay" || Boolean(this.history.at(-1)?.pose);
  }

  /** The step that is shown. */
  step(): number {
    return this.shown ?? this.frame?.step ?? 0;
  }

  newestStep(): number {
    return this.frame?.step ?? this.history.at(-1)?.step ?? 0;
  }

  private takeEvents(events: EventInfo[]): void {
    this.events.push(...events);
    if (this.events.length <= this.mostEvents) return;
    const before = this.events.length;
    this.events = newestOfEachKind(this.events);
    this.leftOut += before - this.events.length;
    this.mostEvents = this.events.length + NEWEST_EVENTS;
  }

  private takeLink(change: LinkChange): void {
    this.linkChanges.push(change);
    const [, i, j, up] = change;
    if (up) this.links.add(`${i} ${j}`);
    else this.links.delete(`${i} ${j}`);
    if (this.linkChanges.length <= this.mostLinks) return;
    this.linkChanges = summedUp(this.linkChanges);
    this.mostLinks = this.linkChanges.length + NEWEST_LINKS;
  }

  private takeTiles(arrays: Arrays): void {
    for (const [key, { data }] of arrays) {
      if (!key.startsWith("tiles:")) continue;
      const layer = this.layers.get(key.slice(6));
      const parts = arrays.get(`cells:${key.slice(6)}`);
      if (!layer || !parts) continue;
      const { rows, columns } = layer.place;
      const across = Math.ceil(columns / TILE);
      data.forEach((tile, k) => {
        const row = TILE * Math.floor(tile / across);
        const column = TILE * (tile % across);
        const width = Math.min(TILE, columns - column);
        for (let r = 0; r < TILE && row + r < rows; r++) {
          const from = k * TILE * TILE + r * TILE;
          layer.cells.set(parts.data.subarray(from, from + width) as never, (row + r) * columns + column);
        }
        mark(layer, tile);
      });
      layer.version++;
    }
  }

  private takeMeasures(frame: FrameHeader, arrays: Arrays): void {
    const values = arrays.get("measures");
    const n = values?.shape[1] ?? 0;
    if (values) (frame.measures as string[]).forEach((name, k) => this.newest.measures.set(name, values.data.subarray(k * n, (k + 1) * n)));
    this.takeSamples((frame.measures_then ?? []) as string[], arrays);
  }

  /** Takes in what was measured at some times, see covey/viewer/past.py. */
  private takeSamples(names: string[], arrays: Arrays): void {
    const [times, values] = [arrays.get("time_s")?.data ?? [], arrays.get("measures_then")?.data];
    const n = this.hello!.robots.length;
    const team = [...arrays].flatMap(([name, { data }]) => (name.startsWith("team_measure:") ? [[name.slice(13), data] as const] : []));
    times.forEach((time_s: number, k: number) => {
      const of = (j: number) => Array.from(values!.subarray((k * names.length + j) * n, (k * names.length + j + 1) * n));
      this.measured.take(time_s, Object.fromEntries(team.map(([name, data]) => [name, known(data[k])])), new Map(names.map((name, j) => [name, of(j)])));
    });
  }

  private takePoses({ step, team }: FrameHeader, arrays: Arrays): void {
    const steps = arrays.get("trail_step")?.data;
    if (steps) this.takeTrail(steps, arrays.get("trail_pose")!, arrays, "trail_team:");
    const pose = arrays.get("pose")?.data as Float32Array | undefined;
    if (pose) this.add(step, pose.slice(), team ?? {});
  }

  /** Takes in poses and measurements of the mission at some steps; the names of the latter begin with `prefix`. */
  private takeTrail(steps: Numbers, { data, shape }: NumberArray, arrays: Arrays, prefix: string): void {
    const size = shape[1] * 3;
    const team = [...arrays].filter(([name]) => name.startsWith(prefix)).map(([name, { data }]) => [name.slice(prefix.length), data] as const);
    steps.forEach((at, k) =>
      this.add(at, data.slice(k * size, (k + 1) * size) as Float32Array, Object.fromEntries(team.map(([name, values]) => [name, values[k]]))),
    );
  }

  private add(step: number, pose: Float32Array, team: Record<string, number | null>): void {
    if ((this.history.at(-1)?.step ?? -1) >= step) return;
    this.history.push({ step, pose });
    this.times.push(step * this.hello!.step_s);
    const count = this.times.length;
    for (const name of Object.keys(team)) if (!this.series.has(name)) this.series.set(name, new Array(count - 1).fill(null));
    for (const [name, row] of this.series) row.push(Number.isFinite(team[name]) ? team[name] : null);
    const room = roomFor(pose.length / 3);
    if (count >= room) this.thin(room);
  }

  private thin(room: number): void {
    const all = this.history;
    this.history = thinned(all, room);
    const kept = new Set(this.history);
    const of = <T>(row: T[]) => row.filter((_, k) => kept.has(all[k]));
    this.times = of(this.times);
    for (const [name, row] of this.series) this.series.set(name, of(row));
  }

  private takeChanges(arrays: Arrays): void {
    const rows = arrays.get("changed")?.data;
    if (!rows?.length) return;
    if (!this.changes.length) this.changes.push(new Changes(this, "truth"));
    const [truth] = this.changes;
    truth.follow(Infinity); // what comes is newer than the layer
    truth.addRows(rows).follow(Infinity);
  }
}
