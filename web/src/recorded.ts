/** What a run recorded besides its tables, at the step that is shown: plans and scans. */

import { unpackMarks, type Mark, type Packed } from "./drawn";
import type { Model } from "./model";
import type { Arrays, Header, Numbers } from "./wire";

interface Scans {
  step: Numbers;
  pose: Numbers;
  ranges: Numbers;
  angle: Numbers;
  range_m: number;
}

/** The marks of an add-on, and which of them are to be seen at each step: from `begins` on in `shown`. */
interface Drawn {
  marks: Mark[];
  begins: number[];
  shown: Numbers;
}

export class Recorded {
  /** Of each robot, where its plans stand in the arrays of the message. */
  private plans: number[][] = [];
  private planned: Arrays | null = null;
  private scans = new Map<number, Scans[]>();
  private drawn = new Map<string, Drawn>();
  private done = "";

  constructor(private model: Model) {}

  /** Takes in a message with plans, scans or marks; whether it was one. */
  takes(header: Header, arrays: Arrays): boolean {
    if (header.type === "plans") {
      this.planned = arrays;
      this.plans = this.model.hello!.robots.map(() => []);
      arrays.get("robot")!.data.forEach((robot, k) => this.plans[robot].push(k));
    } else if (header.type === "scans") {
      const [step, pose, ranges, angle] = ["step", "pose", "ranges", "angle"].map((name) => arrays.get(name)!.data);
      const robot = header.robot as number;
      const known = this.scans.get(robot) ?? [];
      this.scans.set(robot, [...known, { step, pose, ranges, angle, range_m: header.range_m as number }]);
    } else if (header.type === "marks") {
      const begins = [0];
      for (const count of arrays.get("count")!.data) begins.push(begins.at(-1)! + count);
      const marks = unpackMarks(header as unknown as Packed, arrays);
      this.drawn.set(header.name as string, { marks, begins, shown: arrays.get("shown")!.data });
    } else return false;
    this.done = "";
    this.model.changed();
    return true;
  }

  /** Sets the arrays of the model as a run that lasts would send them. */
  follow(at: number): void {
    const key = `${at} ${[...this.model.selected]}`;
    if (key === this.done) return;
    this.done = key;
    if (this.planned) this.followPlans(at, this.planned);
    if (this.scans.size) this.followScans(at);
    for (const [name, { marks, begins, shown }] of this.drawn) {
      const k = Math.min(at, begins.length - 2);
      this.model.drawn.set(name, k < 0 ? [] : Array.from(shown.subarray(begins[k], begins[k + 1]), (row) => marks[row]));
    }
  }

  private followPlans(at: number, planned: Arrays): void {
    const [step, begin, point] = ["step", "begin", "point"].map((name) => planned.get(name)!.data);
    const points: number[] = [];
    const begins = [0];
    for (const rows of this.plans) {
      const k = rows[newest(rows.length, (row) => step[rows[row]], at)];
      if (k !== undefined) points.push(...point.subarray(2 * begin[k], 2 * begin[k + 1]));
      begins.push(points.length / 2);
    }
    this.model.arrays.set("path", { data: Float32Array.from(points), shape: [points.length / 2, 2] });
    this.model.arrays.set("path_of", { data: Int32Array.from(begins), shape: [begins.length] });
  }

  private followScans(at: number): void {
    const places: number[] = [];
    const ends: number[] = [];
    const begins = [0];
    for (const robot of this.model.selected)
      for (const { step, pose, ranges, angle, range_m } of this.scans.get(robot) ?? []) {
        const k = newest(step.length, (row) => step[row], at);
        if (k < 0) continue;
        const [x, y, heading] = pose.subarray(3 * k, 3 * k + 3);
        places.push(robot, x, y);
        angle.forEach((direction, r) => {
          const range = ranges[k * angle.length + r];
          if (Number.isNaN(range)) return;
          const [length, hit] = Number.isFinite(range) ? [range, 1] : [range_m, 0];
          ends.push(x + length * Math.cos(heading + direction), y + length * Math.sin(heading + direction), hit);
        });
        begins.push(ends.length / 3);
      }
    this.model.arrays.set("lidar_at", { data: Float32Array.from(places), shape: [places.length / 3, 3] });
    this.model.arrays.set("lidar", { data: Float32Array.from(ends), shape: [ends.length / 3, 3] });
    this.model.arrays.set("lidar_of", { data: Int32Array.from(begins), shape: [begins.length] });
  }
}

/** The last of some ascending steps that is at or before a step; -1: there is none. */
export function newest(length: number, step: (row: number) => number, at: number): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (step(middle) <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
