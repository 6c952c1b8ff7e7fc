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
  /** Why it cannot be taken back; empty: it can, or has been. */
  note: string;
}

const GROUND = ["altitude", "shift", "crater", "mound", "trench", "bank"];

/** Inputs of which some cannot be taken back, although they have happened. */
const FOR_GOOD = ["drive", "save_ground", "order", "vanishes"];

/** A jam: the outline of its area [m], and the steps from which and to which it lasts. */
interface Jam {
  area: [number, number][];
  from: number;
  to: number;
}

/** What the events of the run tell about changes; each event is looked at once. */
export class Session {
  /** The inputs that were not refused, oldest first. */
  done: Done[] = [];
  /** The inputs that can be taken back, and have not been, with what does it. */
  readonly undoable: { done: Done; back: Deed }[] = [];
  /** Whether a door is open, since it has changed. */
  readonly doors = new Map<string, boolean>();
  /** The last refusal, and how many there were. */
  refused: EventInfo | null = null;
  refusals = 0;
  jams: Jam[] = [];
  private open = new Map<string, Jam>();
  /** The order that holds, and the one before it; null: not known. */
  private order: Deed | null = null;
  private orderBefore: Deed | null = null;
  private events: EventInfo[] = [];
  private count = 0;
  private now: EventInfo[] = []; // events of the present step

  /** Takes in new events; returns whether there were any. */
  update(model: Model): boolean {
    if (this.events !== model.events) this.begin(model);
    const before = this.count;
    for (; this.count < this.events.length; this.count++) this.take(this.events[this.count]);
    return this.count !== before;
  }

  private begin({ events, hello }: Model): void {
    this.events = events;
    const { number: _, ...order } = (hello?.mission.order ?? {}) as Deed;
    this.order = order.objective_m ? order : null;
    this.count = this.refusals = 0;
    this.done = [];
    this.undoable.length = 0;
    this.jams = [];
    for (const one of [this.doors, this.open]) one.clear();
  }

  private take(event: EventInfo): void {
    const { kind, step, time_s, other, text } = event;
    if (this.now[0]?.step !== step) this.now = [];
    this.now.push(event);
    if (kind === "door_opened" || kind === "door_closed") this.doors.set(other!, kind === "door_opened");
    else if (kind === "refused") {
      this.refused = event;
      this.refusals++;
    } else if (kind === "jam") {
      const { polygon_m, centre_m, radius_m } = JSON.parse(text!) as { polygon_m?: [number, number][]; centre_m: [number, number]; radius_m: number };
      const jam = { area: polygon_m ?? circle(centre_m, radius_m), from: step, to: Infinity };
      this.jams.push(jam);
      this.open.set(other!, jam);
    } else if (kind === "jam_over" && this.open.has(other!)) this.open.get(other!)!.to = step;
    else if (kind === "order") [this.orderBefore, this.order] = [this.order, null];
    else if (kind === "input") {
      const { at_step, ...deed } = JSON.parse(text!) as Deed & { at_step: number };
      const done = { at_step, step, time_s, deed, note: "" };
      const last = this.undoable.at(-1);
      const refusal = refusalOf(this.now, deed);
      if (refusal) {
        // where a robot is in the way, it can be tried again
        if ((!refusal.robot || deed.repair) && last && same(last.back, deed)) this.undoable.pop();
        return;
      }
      this.done.push(done);
      if (last && same(last.back, deed)) this.undoable.pop();
      else {
        const back = inverse(this.now, done, this.orderBefore);
        if (back) this.undoable.push({ done, back });
        else done.note = FOR_GOOD.some((key) => key in deed) ? "cannot be taken back" : "changed nothing";
      }
      if (deed.order) this.order = deed.order as Deed;
    }
  }
}

/** The refusal of the input that is the last of the events of its step; undefined: it was not refused. */
function refusalOf(events: EventInfo[], deed: Deed): EventInfo | undefined {
  const before = events.slice(0, -1);
  const its = before.slice(before.map(({ kind }) => kind).lastIndexOf("input") + 1);
  const things = [deed.name, deed.remove, deed.restore, ...GROUND.filter((kind) => deed[kind])];
  const robots = [deed.place, deed.drive, deed.repair];
  const about = ({ robot, other }: EventInfo) => things.includes(other || null) || robots.includes(robot || null);
  return its.find((event) => event.kind === "refused" && about(event));
}

/** The event that takes an input back, given the events of its step; null: it had no effect, or nothing takes it back. */
function inverse(events: EventInfo[], { deed }: Done, orderBefore: Deed | null): Deed | null {
  const found = (kinds: string[], other?: unknown, robot?: unknown): EventInfo | undefined =>
    events
      .filter(
        (event) =>
          kinds.includes(event.kind) &&
          (other === undefined || event.other === other) &&
          (robot === undefined || event.robot === robot),
      )
      .at(-1);
  const { name } = deed;
  if (deed.order) return orderBefore && { order: orderBefore };
  if (deed.kind) {
    if (deed.vanishes || !found(["fault"], deed.kind, deed.robot)) return null;
    return { repair: deed.robot, fault: deed.kind, ...(deed.kind === "sensor" ? { sensor: deed.sensor ?? "lidar" } : {}) };
  }
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

/** Whether an input is what takes another one back; of an order it may leave out values by default. */
function same(back: Deed, deed: Deed): boolean {
  const equal = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
  if (back.order) return Object.entries((deed.order ?? { none: true }) as Deed).every(([key, value]) => equal((back.order as Deed)[key], value));
  return Object.entries(back).every(([key, value]) => equal(deed[key], value));
}

/** The inputs as a part of a scenario. */
export function scenarioText(all: Done[]): string {
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
  if (deed.repair) return `repair ${deed.repair as string}${deed.fault ? `: ${String(deed.fault).replaceAll("_", " ")}` : ""}`;
  if (deed.restore) return `restore ${deed.restore as string}`;
  if (deed.order) return `order to ${flow((deed.order as Deed).objective_m)}`;
  if (deed.save_ground) return `save the ground as ${deed.save_ground as string}`;
  return `${["obstacle", "jam", ...GROUND].find((key) => deed[key]) ? "" : "put up "}${deed.name as string}`;
}
