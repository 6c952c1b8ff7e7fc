/** Which events are shown: by kind and by robot; and what they look like. */

import { words as wordsOfDeed } from "../edit/session";
import type { Deed, EventInfo } from "../messages";
import type { Model } from "../model";

/** Shape and colour of the mark of an event; the shape alone tells groups apart. */
export interface Mark {
  shape: "dot" | "bar" | "diamond" | "triangle";
  color: string;
}

const BAD = ["collision", "controller_failed", "fault", "refused", "stuck", "fell", "rolled", "left_world", "gave_up", "stands", "frontier_left", "exhausted"];
const WORLD = ["door_opened", "door_closed", "door_waits", "wall_added", "wall_removed", "obstacle_added", "obstacle_removed", "obstacle_waits", "ground_changed"];
const ASKED = ["input", "order"];

export function markOf(kind: string): Mark {
  if (BAD.includes(kind)) return { shape: "triangle", color: "var(--bad)" };
  if (WORLD.includes(kind)) return { shape: "bar", color: "var(--changed)" };
  if (ASKED.includes(kind)) return { shape: "diamond", color: "var(--asked)" };
  return { shape: "dot", color: "var(--accent)" };
}

export const words = (kind: string) => kind.replaceAll("_", " ");

export function textOf(event: EventInfo): string {
  if (event.kind === "input") return `input – ${wordsOfDeed(event.data as Deed)}`;
  if (event.kind === "jam") return `jam – ${event.other ?? ""}`;
  if (event.kind === "placed") return `placed ${event.robot ?? ""}`;
  return [words(event.kind), event.robot, event.other && `– ${event.other}`, event.text && `“${event.text}”`].filter(Boolean).join(" ");
}

/** Why the controller of a robot, or of any, has failed by the time that is shown: robot and error in one line; null: it has not. */
export function failureOf(model: Model, robot?: string): { robot: string; step: number; text: string } | null {
  const failed = model.events.filter(({ kind, robot: whose, step }) => kind === "controller_failed" && step <= model.step() && (!robot || whose === robot)).at(-1);
  return failed ? { robot: failed.robot ?? "", step: failed.step, text: (failed.text ?? "").split("\n")[0] } : null;
}

export class EventFilter {
  readonly hidden = new Set<string>();
  robot = "";

  constructor(private model: Model) {}

  passes = (event: EventInfo): boolean =>
    !this.hidden.has(event.kind) && (!this.robot || event.robot === this.robot || event.other === this.robot);

  get shown(): EventInfo[] {
    return this.model.events.filter(this.passes);
  }

  get kinds(): string[] {
    return [...new Set(this.model.events.map((event) => event.kind))].sort();
  }
}
