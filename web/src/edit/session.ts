/** What was done in this run: the inputs that the server has recorded, how to take them back, and their text. */

import type { EventInfo } from "../messages";
import type { Model } from "../model";

/** An event as in a scenario, such as {door: "d3", to: "closed"}. */
export type Deed = Record<string, unknown>;

export interface Done {
  at_step: number;
  /** Step at which its effects are recorded. */
  step: number;
  time_s: number;
  deed: Deed;
}

const GROUND = ["altitude", "shift", "crater", "mound", "trench", "bank"];

/** All inputs of the run, oldest first. */
export function inputs(model: Model): Done[] {
  return model.events
    .filter((event) => event.kind === "input")
    .map(({ step, time_s, text }) => {
      const { at_step, ...deed } = JSON.parse(text!) as Deed & { at_step: number };
      return { at_step, step, time_s, deed };
    });
}

/** The event that takes an input back; null: it had no effect, or nothing takes it back. */
export function inverse(model: Model, { step, deed }: Done): Deed | null {
  const found = (kinds: string[], other?: unknown, robot?: unknown): EventInfo | undefined =>
    model.events.find(
      (event) =>
        event.step === step &&
        kinds.includes(event.kind) &&
        (other === undefined || event.other === other) &&
        (robot === undefined || event.robot === robot),
    );
  const { name } = deed;
  if (deed.door) {
    const happened = found(["door_opened", "door_closed", "door_waits"], deed.door);
    return happened ? { door: deed.door, to: deed.to === "open" ? "closed" : "open" } : null;
  }
  if (deed.wall || deed.obstacle || deed.jam)
    return found(["wall_added", "obstacle_added", "jam"], name) ? { remove: name } : null;
  if (typeof deed.remove === "string")
    return found(["wall_removed", "obstacle_removed"], deed.remove) ? { restore: deed.remove } : null;
  if (deed.remove) return found(["wall_removed"], name) ? { restore: name } : null;
  if (deed.place) {
    const text = found(["placed"], undefined, deed.place)?.text;
    return text ? { place: deed.place, pose: JSON.parse(text.replace("from ", "")) as number[] } : null;
  }
  const ground = GROUND.find((kind) => deed[kind]);
  return ground && found(["ground_changed"], ground) ? { restore: name } : null;
}

/** The last input that can be taken back, and has not been, with what does it. */
export function undoable(model: Model): { done: Done; back: Deed } | null {
  const stack: { done: Done; back: Deed }[] = [];
  for (const done of inputs(model)) {
    const top = stack.at(-1);
    if (top && same(top.back, done.deed)) stack.pop();
    else {
      const back = inverse(model, done);
      if (back) stack.push({ done, back });
    }
  }
  return stack.at(-1) ?? null;
}

function same(a: Deed, b: Deed): boolean {
  return Object.entries(a).every(([key, value]) => JSON.stringify(b[key]) === JSON.stringify(value));
}

/** The inputs as a part of a scenario. */
export function scenarioText(model: Model): string {
  const all = inputs(model);
  const part = (key: string, some: Done[]) =>
    some.length ? [`${key}:`, ...some.map(({ at_step, deed: { name, ...deed } }) => `  - ${flow({ at_step, ...deed, ...(name ? { name } : {}) })}`)] : [];
  const faults = all.filter(({ deed }) => "kind" in deed);
  const events = all.filter(({ deed }) => !("kind" in deed));
  return [...part("events", events), ...part("faults", faults)].join("\n") + (all.length ? "\n" : "");
}

/** A value as YAML in one line. */
export function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(", ")}]`;
  if (value && typeof value === "object")
    return `{${Object.entries(value)
      .map(([key, one]) => `${key}: ${flow(one)}`)
      .join(", ")}}`;
  if (typeof value !== "string") return String(value);
  const plain = /^[A-Za-z][A-Za-z0-9_. -]*[A-Za-z0-9_]$|^[A-Za-z]$/.test(value) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(value);
  return plain ? value : JSON.stringify(value);
}

/** The areas that are jammed now: x, y [m] of their outlines. */
export function jams(model: Model): [number, number][][] {
  const areas = new Map<string, [number, number][]>();
  for (const { kind, other, text } of model.events) {
    if (kind === "jam_over") areas.delete(other!);
    if (kind !== "jam") continue;
    const { polygon_m, centre_m, radius_m } = JSON.parse(text!) as { polygon_m?: [number, number][]; centre_m: [number, number]; radius_m: number };
    areas.set(other!, polygon_m ?? circle(centre_m, radius_m));
  }
  return [...areas.values()];
}

/** The outline of a circle. */
export function circle([x, y]: readonly [number, number], radius: number): [number, number][] {
  return Array.from({ length: 48 }, (_, k) => {
    const angle = (k * Math.PI) / 24;
    return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
  });
}

/** What an input does, in a few words. */
export function words(deed: Deed): string {
  if (deed.door) return `${deed.to === "open" ? "open" : "close"} door ${deed.door as string}`;
  if (deed.kind) return `${String(deed.kind).replaceAll("_", " ")}: ${deed.robot as string}`;
  if (deed.drive) return deed.twist ? `drive ${deed.drive as string} ${flow(deed.twist)}` : `let ${deed.drive as string} go`;
  if (deed.place) return `place ${deed.place as string} at ${flow((deed.pose as number[]).slice(0, 2))}`;
  if (typeof deed.remove === "string") return `remove ${deed.remove}`;
  if (deed.remove) return `tear down ${deed.name as string}`;
  if (deed.restore) return `restore ${deed.restore as string}`;
  if (deed.order) return `order to ${flow((deed.order as Deed).objective_m)}`;
  if (deed.save_ground) return `save the ground as ${deed.save_ground as string}`;
  return `${["obstacle", "jam", ...GROUND].find((key) => deed[key]) ? "" : "put up "}${deed.name as string}`;
}
