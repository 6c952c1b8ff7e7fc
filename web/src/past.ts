/** What the page keeps of the past, within bounds; the server keeps the same, see covey/viewer/past.py. */

import type { EventInfo } from "./messages";

const POSE_BYTES = 8_000_000;
const MOST_POSES = 24_000;
const MOST_SAMPLES = 2000;
const MOST_VALUES = 1_000_000;
export const NEWEST_EVENTS = 2000;
export const NEWEST_LINKS = 20_000;

export type LinkChange = [step: number, robot: number, other: number, up: number];

/** Poses of all robots at one step, float32 (n, 3); null: they are still on their way. */
export interface Poses {
  step: number;
  pose: Float32Array | null;
}

/** The largest power of 2 that divides a step. */
const divisor = (step: number) => (step ? step & -step : 2 ** 40);

/** How many poses of n robots are kept. */
export function roomFor(n: number): number {
  return Math.min(Math.max(Math.floor(POSE_BYTES / (12 * Math.max(n, 1))), 256), MOST_POSES);
}

/** Returns fewer poses: the newest quarter of the room of each step, older ones the more seldom the older they are. */
export function thinned(history: Poses[], room: number): Poses[] {
  const newest = history.at(-1)!.step;
  let kept = history;
  for (let fine = room / 4; kept.length > 0.75 * room; fine /= 2) kept = history.filter(({ step }) => newest - step <= fine * divisor(step));
  return kept;
}

/** Returns events without the older ones of kinds of which there are very many. */
export function newestOfEachKind(events: EventInfo[]): EventInfo[] {
  const seen = new Map<string, number>();
  const kept = [];
  for (let k = events.length - 1; k >= 0; k--) {
    const count = (seen.get(events[k].kind) ?? 0) + 1;
    seen.set(events[k].kind, count);
    if (count <= NEWEST_EVENTS) kept.push(events[k]);
  }
  return kept.reverse();
}

/** Returns changes of links in which one for each link that was up stands for all but the newest. */
export function summedUp(changes: LinkChange[]): LinkChange[] {
  const old = changes.slice(0, -NEWEST_LINKS);
  const up = new Map<string, LinkChange>();
  for (const [, i, j, on] of old) {
    if (on) up.set(`${i} ${j}`, [old.at(-1)![0], i, j, 1]);
    else up.delete(`${i} ${j}`);
  }
  return [...up.values(), ...changes.slice(-NEWEST_LINKS)];
}

/** Returns a number, or null for what was not measured; among other samples it comes as NaN. */
export const known = (value: number | undefined): number | null => (value === undefined || Number.isNaN(value) ? null : value);

/** What was measured at some times, so many at most: of each robot, and of the team. */
export class Series {
  times: number[] = [];
  values = new Map<string, number[][]>();
  team = new Map<string, (number | null)[]>();
  private every_s = 0;

  clear(): void {
    [this.times, this.every_s] = [[], 0];
    this.values.clear();
    this.team.clear();
  }

  take(time_s: number, team: Record<string, number | null>, measures: Map<string, ArrayLike<number>> = new Map()): void {
    const last = this.times.at(-1) ?? -Infinity;
    if (time_s < last) this.clear();
    else if (time_s - last < Math.max(this.every_s, 1e-9)) return;
    this.times.push(time_s);
    const count = this.times.length;
    let robots = 1;
    for (const [name, row] of measures) {
      const rows = this.values.get(name) ?? Array.from({ length: count - 1 }, () => []);
      rows.push(Array.from(row));
      robots += row.length;
      this.values.set(name, rows);
    }
    for (const [name, value] of Object.entries(team)) {
      const row = this.team.get(name) ?? new Array(count - 1).fill(null);
      row.push(value);
      this.team.set(name, row);
    }
    for (const row of this.team.values()) if (row.length < count) row.push(null);
    for (const rows of this.values.values()) if (rows.length < count) rows.push([]);
    const most = Math.min(MOST_SAMPLES, Math.max(Math.floor(MOST_VALUES / robots), 200));
    if (count <= most) return;
    const keep = <T>(row: T[]) => row.filter((_, k) => k % 2 === 0);
    this.times = keep(this.times);
    for (const [name, rows] of this.values) this.values.set(name, keep(rows));
    for (const [name, row] of this.team) this.team.set(name, keep(row));
    this.every_s = (this.times.at(-1)! - this.times[0]) / (most / 2);
  }
}
