/** Changes of a layer of cells, which can be made and taken back. */

import { mark, TILE, type CellLayer, type Model } from "./model";
import type { Numbers } from "./wire";

export class Changes {
  private layer: CellLayer | undefined;
  private taken = 0;
  private steps: number[] = [];
  private cells: number[] = [];
  private before: number[] = [];
  private after: number[] = [];

  constructor(
    private model: Model,
    private name: string,
  ) {}

  /** Adds newer changes: pairs of step and cell, and the values before and after. */
  add(changed: Numbers, before: Numbers, after: Numbers): this {
    for (let k = 0; k < before.length; k++) {
      this.steps.push(changed[2 * k]);
      this.cells.push(changed[2 * k + 1]);
      this.before.push(before[k]);
      this.after.push(after[k]);
    }
    return this;
  }

  /** Adds newer changes: rows of step, cell, value before and after. */
  addRows(rows: Numbers): this {
    for (let k = 0; k < rows.length; k += 4)
      [this.steps, this.cells, this.before, this.after].forEach((column, j) => column.push(rows[k + j]));
    return this;
  }

  /** Whether the model has got the layer anew. */
  get stale(): boolean {
    return this.layer !== this.model.layers.get(this.name);
  }

  /** Brings the layer to a step; Infinity: to the newest. */
  follow(at: number): void {
    const { steps } = this;
    if (this.stale) this.taken = steps.length; // layers come as they are at the end
    const layer = (this.layer = this.model.layers.get(this.name));
    if (!layer) return;
    const [before, across] = [this.taken, Math.ceil(layer.place.columns / TILE)];
    const set = (k: number, value: number) => {
      const cell = this.cells[k];
      const row = Math.floor(cell / layer.place.columns);
      layer.cells[cell] = value;
      mark(layer, Math.floor(row / TILE) * across + Math.floor((cell - row * layer.place.columns) / TILE));
    };
    while (this.taken && steps[this.taken - 1] > at) set(--this.taken, this.before[this.taken]);
    for (; this.taken < steps.length && steps[this.taken] <= at; this.taken++) set(this.taken, this.after[this.taken]);
    if (before !== this.taken) layer.version++;
  }
}
