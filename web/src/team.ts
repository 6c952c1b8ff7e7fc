/** What a recording tells of the robots at the step that is shown: flags by its events, visits of waypoints, orders, measurements. */

import { flagsAt } from "./flags";
import type { Model } from "./model";
import { newest } from "./recorded";
import type { Arrays, Header, Numbers } from "./wire";

interface Order {
  step: number;
  objective_m: [number, number];
  formation: string;
  within_m: number;
  target: [number, number][];
}

export class Team {
  private stays: Numbers | null = null;
  private orders: Order[] | null = null;
  private measured: { steps: Numbers; names: string[]; values: Numbers } | null = null;

  constructor(private model: Model) {}

  /** Takes in a message of this kind; whether it was one. */
  takes(header: Header, arrays: Arrays): boolean {
    if (header.type === "waypoints") this.stays = arrays.get("stay")!.data;
    else if (header.type === "targets") this.orders = header.orders as Order[];
    else if (header.type === "measures") this.takeMeasures(header.measures as string[], arrays);
    else return false;
    this.model.changed();
    return true;
  }

  /** Sets the arrays of the model as a run that lasts would send them. */
  follow(at: number): void {
    const { model } = this;
    const n = model.hello!.robots.length;
    model.arrays.set("flags", { data: flagsAt(model, at), shape: [n] });
    if (this.stays) this.followVisits(at, this.stays);
    if (this.orders) this.followOrders(at, this.orders);
    if (this.measured) {
      const { steps, names, values } = this.measured;
      const k = Math.max(newest(steps.length, (row) => steps[row], at), 0);
      names.forEach((name, j) => model.measures.set(name, values.subarray((k * names.length + j) * n, (k * names.length + j + 1) * n)));
    }
  }

  private followVisits(at: number, stays: Numbers): void {
    const step_s = this.model.hello!.step_s;
    const last = new Float32Array((this.model.hello!.mission.waypoints_m as unknown[]).length);
    for (let k = 0; k < stays.length && stays[k + 1] <= at; k += 3) last[stays[k]] = Math.max(last[stays[k]], Math.min(stays[k + 2], at));
    this.model.arrays.set("idleness_s", { data: last.map((step) => (at - step) * step_s), shape: [last.length] });
  }

  private followOrders(at: number, orders: Order[]): void {
    const order = orders[newest(orders.length, (row) => orders[row].step, at)];
    this.model.frame!.order = order;
    if (order) this.model.arrays.set("target", { data: Float32Array.from(order.target.flat()), shape: [order.target.length, 2] });
    else this.model.arrays.delete("target");
  }

  private takeMeasures(names: string[], arrays: Arrays): void {
    const [steps, values] = [arrays.get("step")!.data, arrays.get("measures")!.data];
    const { hello, measured } = this.model;
    const n = hello!.robots.length;
    this.measured = { steps, names, values };
    measured.clear();
    measured.times = Array.from(steps, (step) => step * hello!.step_s);
    names.forEach((name, j) =>
      measured.values.set(name, Array.from(steps, (_, k) => Array.from(values.subarray((k * names.length + j) * n, (k * names.length + j + 1) * n)))),
    );
  }
}
