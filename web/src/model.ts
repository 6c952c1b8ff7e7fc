/** What the page knows of the run: what never changes, the newest state, and what it has seen so far. */

import { unpackMarks, type Mark, type Packed } from "./drawn";
import type { EventInfo, FrameHeader, Hello, Place } from "./messages";
import { NEWEST_EVENTS, NEWEST_LINKS, newestOfEachKind, roomFor, Series, summedUp, thinned, type LinkChange, type Poses } from "./past";
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

export class Model {
  hello: Hello | null = null;
  frame: FrameHeader | null = null;
  /** How the run is going to begin, while it gets ready. */
  waiting: { playing: boolean; factor: number | null } | null = null;
  arrays: Arrays = new Map();
  /** What sensors and add-ons draw, by layer. */
  drawn = new Map<string, Mark[]>();
  layers = new Map<string, CellLayer>();
  /** The poses that the page has, by step. */
  history: Poses[] = [];
  /** The events; if old ones are dropped, this is a new list. */
  events: EventInfo[] = [];
  /** Number of events that have been dropped. */
  leftOut = 0;
  /** Measurements of the mission: name, then values beside `times`. */
  series = new Map<string, (number | null)[]>();
  times: number[] = [];
  /** What the robots and the team measured, if somebody looks at it. */
  measured = new Series();
  /** Measurements of the robots: name, then a value for each robot. */
  measures = new Map<string, Numbers>();
  /** Pairs of robots that hear each other: "i j". */
  links = new Set<string>();
  linkChanges: LinkChange[] = [];
  /** Step that is shown; null: the newest. */
  shown: number | null = null;
  /** Numbers of the selected robots, in the order in which they were selected. */
  selected = new Set<number>();
  /** Of whom heat maps are: "team", "robot" (the selected one), or "group NAME". */
  heatOf = "team";
  /** Called before the listeners; a recording then brings everything to the step that is shown. */
  prepare: (() => void) | null = null;
  private listeners = new Set<() => void>();
  private mission = new Series();
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
    this.measures.clear();
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
    this.mission.clear();
    this.measured.clear();
    [this.times, this.series] = [this.mission.times, this.mission.team];
    [this.mostEvents, this.mostLinks] = [2 * NEWEST_EVENTS, 2 * NEWEST_LINKS];
  }

  /** Takes in what the run has been before the page joined. A frame follows. */
  takePast(header: Header, arrays: Arrays): void {
    this.forget();
    const data = (name: string) => arrays.get(name)!.data;
    this.takeTrail(data("step"), arrays.get("pose")!);
    this.takeEvents(header.events as EventInfo[]);
    this.leftOut += header.left_out as number;
    const links = data("links");
    for (let k = 0; k < links.length; k += 4) this.takeLink([...links.subarray(k, k + 4)] as unknown as LinkChange);
    const names = header.measures as string[];
    const n = this.hello!.robots.length;
    const of = (kind: string, k: number) =>
      Object.fromEntries(
        [...arrays].filter(([name]) => name.startsWith(kind)).map(([name, { data }]) => [name.slice(kind.length), Number.isNaN(data[k]) ? null : data[k]]),
      );
    data("time_s").forEach((time_s, k) => {
      const row = (j: number) => data("measures").subarray((k * names.length + j) * n, (k * names.length + j + 1) * n);
      this.mission.take(time_s, of("team:", k));
      this.measured.take(time_s, of("team_measure:", k), new Map(names.map((name, j) => [name, row(j)])));
    });
    [this.times, this.series] = [this.mission.times, this.mission.team];
  }

  takeLayer(name: string, place: Place, cells: Numbers): void {
    this.layers.set(name, { name, place, cells: cells.slice(), dirty: [], version: 1 });
    this.changed();
  }

  takeFrame(frame: FrameHeader, arrays: Arrays): void {
    this.frame = frame;
    this.arrays = arrays;
    const drawn = Object.keys(frame).filter((name) => /^(addon|sensor):/.test(name));
    this.drawn = new Map(drawn.map((name) => [name, unpackMarks(frame[name] as Packed, arrays, `${name}/`)]));
    if (this.shown !== null && this.shown > frame.step) this.shown = null; // another run, after a restart
    this.takeEvents(frame.events);
    for (const change of frame.links) this.takeLink(change);
    this.takeTiles(arrays);
    this.takePoses(frame.step, arrays);
    this.takeMeasures(frame, arrays);
    if (frame.team) this.mission.take(frame.time_s, frame.team);
    [this.times, this.series] = [this.mission.times, this.mission.team];
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
    if (!values) return;
    const n = values.shape[1];
    (frame.measures as string[]).forEach((name, k) => this.measures.set(name, values.data.subarray(k * n, (k + 1) * n)));
    this.measured.take(frame.time_s, frame.team_measures as Record<string, number>, this.measures);
  }

  private takePoses(step: number, arrays: Arrays): void {
    const steps = arrays.get("trail_step")?.data;
    if (steps) this.takeTrail(steps, arrays.get("trail_pose")!);
    const pose = arrays.get("pose")?.data as Float32Array | undefined;
    if (pose) this.add(step, pose.slice());
  }

  private takeTrail(steps: Numbers, { data, shape }: NumberArray): void {
    const size = shape[1] * 3;
    steps.forEach((at, k) => this.add(at, data.slice(k * size, (k + 1) * size) as Float32Array));
  }

  private add(step: number, pose: Float32Array): void {
    if ((this.history.at(-1)?.step ?? -1) >= step) return;
    this.history.push({ step, pose });
    const room = roomFor(pose.length / 3);
    if (this.history.length >= room) this.history = thinned(this.history, room);
  }
}
