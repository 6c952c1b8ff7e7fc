/** What a tab shows is kept for its next load: layers, selection, plots and camera of each run. */

import type { App } from "../app";
import { seldom } from "./dom";

/** A part of what is shown, as plain data. */
export interface Kept {
  name: string;
  get: () => unknown;
  set: (value: never) => void;
}

export class Memory {
  private parts: Kept[] = [];
  private restored = false;

  constructor(private app: App) {
    const { model, view, stage } = app;
    this.add({ name: "layers", get: () => [...stage.shown], set: (names: string[]) => this.layers(names) });
    this.add({
      name: "selected",
      get: () => [...model.selected].map((i) => model.hello!.robots[i].name),
      set: (names: string[]) => (model.selected = new Set(names.map((name) => model.hello!.robots.findIndex((one) => one.name === name)).filter((i) => i >= 0))),
    });
    this.add({ name: "trail_s", get: () => stage.trail_s, set: (trail_s: number) => (stage.trail_s = trail_s) });
    this.add({ name: "heatOf", get: () => model.heatOf, set: (heatOf: string) => (model.heatOf = heatOf) });
    this.add({ name: "camera", get: () => view.state, set: (state: never) => (view.state = state) });
    const save = seldom(() => this.save(), 500);
    model.onChange(save);
    view.afterDraw.push(save);
    addEventListener("pagehide", () => this.save());
  }

  add(part: Kept): void {
    this.parts.push(part);
  }

  /** Brings back what this tab has shown of the run; once, when its first description has come. */
  restore(): void {
    if (this.restored) return;
    this.restored = true;
    try {
      const all = JSON.parse(sessionStorage.getItem(this.key) ?? "{}") as Record<string, never>;
      for (const { name, set } of this.parts) if (name in all) set(all[name]);
    } catch {
      // nothing is kept, or it is of another version
    }
  }

  private layers(names: string[]): void {
    const { shown, layers } = this.app.stage;
    shown.clear();
    for (const { name } of layers) if (names.includes(name)) shown.add(name);
  }

  private get key(): string {
    const { hello } = this.app.model;
    return `covey.shown ${new URLSearchParams(location.hash.slice(1)).get("of") ?? ""} ${hello!.name} ${hello!.folder ?? ""}`;
  }

  private save(): void {
    if (!this.restored || !this.app.model.hello) return;
    try {
      sessionStorage.setItem(this.key, JSON.stringify(Object.fromEntries(this.parts.map(({ name, get }) => [name, get()]))));
    } catch {
      // it is not kept
    }
  }
}
