/** `Player`: who moves the time. The server does for a run that lasts, the page itself for a recorded one. */

import type { Channel } from "./connection";
import type { ToServer } from "./messages";
import type { Model, Told } from "./model";
import { stateAt } from "./then";

export interface Player {
  readonly playing: boolean;
  /** Simulated seconds per second; null: as fast as possible. */
  readonly factor: number | null;
  /** Whether it obeys. */
  readonly locked: boolean;
  /** Whether there is a run that can be ended. */
  readonly ends: boolean;
  /** Whether play, step and speed are those of the past while the run goes on. */
  readonly looksBack: boolean;
  /** Number of steps that were asked for and are still to come. */
  readonly stepsLeft: number;
  play(): void;
  pause(): void;
  /** Takes some steps, then pauses; a negative number: back. */
  step(count: number): void;
  speed(factor: number | null): void;
  end(): void;
  /** Shows a step; null: the newest. */
  seek(step: number | null): void;
}

/** Asks the server. What is past, also of a run that has ended, is played from what the page has seen. */
export class LivePlayer implements Player {
  private playsPast = false;
  private pastFactor: number | null = 1;
  private last_ms = 0;
  /** What was told at the step of the past that is shown. */
  private then: Told = { arrays: new Map(), measures: new Map() };
  private followed = "";

  constructor(
    private model: Model,
    private connection: Channel,
    private say: (text: string) => void,
  ) {
    model.prepare = () => this.follow();
  }

  get playing(): boolean {
    return this.past ? this.playsPast : Boolean(this.model.frame?.playing || this.stepsLeft);
  }

  get looksBack(): boolean {
    return this.model.shown !== null;
  }

  get stepsLeft(): number {
    return this.past ? 0 : (this.model.frame?.steps ?? 0);
  }

  get factor(): number | null {
    return this.past ? this.pastFactor : (this.model.frame?.factor ?? null);
  }

  get locked(): boolean {
    return this.past ? this.model.history.length < 2 : !this.steers;
  }

  get ends(): boolean {
    return this.steers;
  }

  play(): void {
    if (!this.past) return this.ask({ type: "play" });
    this.playsPast = true;
    if (this.model.shown === null) this.model.shown = this.model.history[0]?.step ?? null;
    this.last_ms = performance.now();
    this.model.changed();
    requestAnimationFrame(() => this.advance());
  }

  pause(): void {
    if (!this.past) return this.ask({ type: "pause" });
    this.playsPast = false;
    this.model.changed();
  }

  step(count: number): void {
    this.playsPast = false;
    const { shown, history } = this.model;
    if (shown === null && count > 0) {
      if (this.steers) this.ask({ type: "step", count });
      return;
    }
    const index = this.model.indexAt(this.model.step()) + count;
    if (history.length) this.seek(index < history.length ? history[Math.max(0, index)].step : null);
  }

  speed(factor: number | null): void {
    if (!this.past) return this.ask({ type: "speed", factor });
    this.pastFactor = factor;
    this.model.changed();
  }

  end(): void {
    this.ask({ type: "end" });
  }

  seek(step: number | null): void {
    const first = this.model.history[0]?.step ?? 0;
    this.model.shown = step !== null && step < this.model.newestStep() ? Math.max(step, first) : null;
    this.model.changed();
  }

  /** Brings what the model says to the step that is shown: the world, flags, links, tags and measurements. */
  private follow(): void {
    const { model } = this;
    if (!model.hello || !model.frame) return;
    for (const one of model.changes) one.follow(model.shown ?? Infinity);
    if (model.shown === null) [model.arrays, model.measures] = [model.newest.arrays, model.newest.measures];
    else {
      const key = `${model.shown} ${model.events.length} ${model.linkChanges.length} ${model.measured.times.length}`;
      if (key !== this.followed) this.then = stateAt(model, model.shown);
      this.followed = key;
      [model.arrays, model.measures] = [this.then.arrays, this.then.measures];
    }
  }

  /** Whether the page shows the past, or the run has ended or cannot be reached. */
  private get past(): boolean {
    return this.model.shown !== null || (this.model.frame?.status ?? null) !== null || !this.connection.open;
  }

  private get steers(): boolean {
    return Boolean(this.model.hello?.edits && this.model.frame && this.connection.open) && this.model.frame!.status === null;
  }

  private advance(): void {
    const { model } = this;
    if (!this.playsPast || model.shown === null) {
      this.playsPast = false;
      return model.changed();
    }
    const now = performance.now();
    const passed_s = (Math.min(now - this.last_ms, 250) / 1000) * (this.pastFactor ?? 100);
    const step = Math.floor(model.shown + passed_s / model.hello!.step_s);
    if (step > model.shown) {
      this.last_ms = now;
      this.seek(step);
    }
    requestAnimationFrame(() => this.advance());
  }

  private ask(message: ToServer): void {
    this.connection.ask(message).catch((error: Error) => this.say(error.message));
  }
}
