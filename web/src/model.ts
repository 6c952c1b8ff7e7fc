/** What the page knows of the run: what never changes, the newest state, and what it has seen so far. */

import type { EventInfo, FrameHeader, Hello, Place } from "./messages";
import type { Arrays, Numbers } from "./wire";

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

/** Poses of all robots at one step, float32 (n, 3). */
export interface Poses {
  step: number;
  pose: Float32Array;
}

export class Model {
  hello: Hello | null = null;
  frame: FrameHeader | null = null;
  arrays: Arrays = new Map();
  layers = new Map<string, CellLayer>();
  /** All poses that the page has, by step. */
  history: Poses[] = [];
  events: EventInfo[] = [];
  /** Measurements of the team: name, then values beside `times`. */
  series = new Map<string, (number | null)[]>();
  times: number[] = [];
  /** Measurements of the robots: name, then a value for each robot. */
  measures = new Map<string, Numbers>();
  /** Pairs of robots that hear each other: "i j". */
  links = new Set<string>();
  linkChanges: [number, number, number, number][] = [];
  /** Step that is shown; null: the newest. */
  shown: number | null = null;
  /** Numbers of the selected robots, in the order in which they were selected. */
  selected = new Set<number>();
  /** Called before the listeners; a recording then brings everything to the step that is shown. */
  prepare: (() => void) | null = null;
  private listeners = new Set<() => void>();

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
    this.frame = null;
    this.arrays = new Map();
    this.measures.clear();
    this.layers.clear();
    this.events = [];
    this.links.clear();
    this.linkChanges = [];
    this.selected = new Set(chosen.map((name) => hello.robots.findIndex((robot) => robot.name === name)).filter((i) => i >= 0));
    if (this.history.length && this.history[0].pose.length !== 3 * hello.robots.length) this.history = [];
    this.changed();
  }

  takeLayer(name: string, place: Place, cells: Numbers): void {
    this.layers.set(name, { name, place, cells: cells.slice(), dirty: [], version: 1 });
    this.changed();
  }

  takeFrame(frame: FrameHeader, arrays: Arrays): void {
    this.frame = frame;
    this.arrays = arrays;
    this.events.push(...frame.events);
    for (const change of frame.links) this.takeLink(change);
    this.takeTiles(arrays);
    this.takePoses(frame.step, arrays);
    this.takeMeasures(frame, arrays);
    if (frame.team && this.times.at(-1) !== frame.time_s) this.takeSeries(frame.time_s, frame.team);
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

  /** The step that is shown. */
  step(): number {
    return this.shown ?? this.frame?.step ?? 0;
  }

  newestStep(): number {
    return this.frame?.step ?? this.history.at(-1)?.step ?? 0;
  }

  private takeLink([step, i, j, up]: [number, number, number, number]): void {
    this.linkChanges.push([step, i, j, up]);
    if (up) this.links.add(`${i} ${j}`);
    else this.links.delete(`${i} ${j}`);
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
  }

  private takePoses(step: number, arrays: Arrays): void {
    const steps = arrays.get("trail_step")?.data;
    const poses = arrays.get("trail_pose");
    if (steps && poses) {
      const size = poses.shape[1] * 3;
      steps.forEach((at, k) => this.add(at, poses.data.slice(k * size, (k + 1) * size) as Float32Array));
    }
    const pose = arrays.get("pose")?.data as Float32Array | undefined;
    if (pose) this.add(step, pose.slice());
  }

  private add(step: number, pose: Float32Array): void {
    if ((this.history.at(-1)?.step ?? -1) < step) this.history.push({ step, pose });
  }

  private takeSeries(time_s: number, team: Record<string, number | null>): void {
    this.times.push(time_s);
    for (const [name, value] of Object.entries(team)) {
      const values = this.series.get(name) ?? new Array(this.times.length - 1).fill(null);
      values.push(value);
      this.series.set(name, values);
    }
  }
}
