/** `Player`: who moves the time. The server does for a run that lasts, the page itself for a recorded one. */

import type { Channel } from "./connection";
import type { ToServer } from "./messages";
import type { Model } from "./model";

export interface Player {
  readonly playing: boolean;
  /** Simulated seconds per second; null: as fast as possible. */
  readonly factor: number | null;
  /** Whether it obeys. */
  readonly locked: boolean;
  /** Whether there is a run that can be ended. */
  readonly ends: boolean;
  play(): void;
  pause(): void;
  /** Takes some steps, then pauses; a negative number: back. */
  step(count: number): void;
  speed(factor: number | null): void;
  end(): void;
  /** Shows a step; null: the newest. */
  seek(step: number | null): void;
}

/** Asks the server. What is past is shown from what the page has seen. */
export class LivePlayer implements Player {
  readonly ends = true;

  constructor(
    private model: Model,
    private connection: Channel,
    private say: (text: string) => void,
  ) {}

  get playing(): boolean {
    return Boolean(this.model.frame?.playing);
  }

  get factor(): number | null {
    return this.model.frame?.factor ?? null;
  }

  get locked(): boolean {
    const { frame, hello } = this.model;
    return !frame || !hello?.edits || frame.status !== null;
  }

  play(): void {
    this.seek(null);
    this.ask({ type: "play" });
  }

  pause(): void {
    this.ask({ type: "pause" });
  }

  step(count: number): void {
    const wanted = this.model.step() + count;
    if (wanted < this.model.newestStep()) this.seek(Math.max(0, wanted));
    else {
      this.seek(null);
      this.ask({ type: "step", count: Math.max(1, count) });
    }
  }

  speed(factor: number | null): void {
    this.ask({ type: "speed", factor });
  }

  end(): void {
    this.ask({ type: "end" });
  }

  seek(step: number | null): void {
    this.model.shown = step !== null && step < this.model.newestStep() ? step : null;
    this.model.changed();
  }

  private ask(message: ToServer): void {
    this.connection.ask(message).catch((error: Error) => this.say(error.message));
  }
}
