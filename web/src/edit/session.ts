/** What was done in this run: the inputs that the server has recorded, by whom, and their text. */

import type { Deed, EditsInfo, EventInfo } from "../messages";
import type { Model } from "../model";

export type { Deed };

export interface Done {
  at_step: number;
  time_s: number;
  deed: Deed;
  /** Number of the viewer; 0: not a viewer of this page. */
  by: number;
  /** Number of the change. */
  edit: number;
  /** Whether it has been taken back. */
  undone: boolean;
  /** Whether it takes something back. */
  isUndo: boolean;
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
  /** Whether a door is open, since it has changed. */
  readonly doors = new Map<string, boolean>();
  /** The refusals of what viewers have asked for, oldest first. */
  refusals: EventInfo[] = [];
  jams: Jam[] = [];
  /** What made the things that viewers have named, by name. */
  readonly named = new Map<string, Deed>();
  /** Names of the walls, obstacles and jams that stand now. */
  readonly standing = new Set<string>();
  private open = new Map<string, Jam>();
  private events: EventInfo[] = [];
  private count = 0;

  /** Takes in new events; returns whether there were any. */
  update(model: Model): boolean {
    if (this.events !== model.events) this.begin(model);
    const before = this.count;
    for (; this.count < this.events.length; this.count++) this.take(this.events[this.count]);
    return this.count !== before;
  }

  private begin({ events }: Model): void {
    this.events = events;
    this.count = 0;
    [this.done, this.jams, this.refusals] = [[], [], []];
    for (const one of [this.doors, this.open, this.named, this.standing]) one.clear();
  }

  private take(event: EventInfo): void {
    const { kind, step, time_s, other, data, by = 0, edit = 0 } = event;
    if (["wall_added", "obstacle_added", "jam"].includes(kind)) this.standing.add(other!);
    if (["wall_removed", "obstacle_removed", "jam_over"].includes(kind)) this.standing.delete(other!);
    if (kind === "door_opened" || kind === "door_closed") this.doors.set(other!, kind === "door_opened");
    else if (kind === "refused" && by) this.refusals.push(event);
    else if (kind === "jam") {
      const { polygon_m, centre_m, radius_m } = data!;
      const jam = { area: polygon_m ?? circle(centre_m!, radius_m!), from: step, to: Infinity };
      this.jams.push(jam);
      this.open.set(other!, jam);
    } else if (kind === "jam_over" && this.open.has(other!)) this.open.get(other!)!.to = step;
    else if (kind === "input" && !event.refused) {
      const { at_step, ...deed } = data as Deed & { at_step: number };
      const changed = event.undoes ?? event.redoes;
      if (changed) for (const one of this.done) if (one.edit === changed) one.undone = event.undoes !== undefined;
      if (typeof deed.name === "string") this.named.set(deed.name, deed);
      const note = !event.final ? "" : FOR_GOOD.some((key) => key in deed) ? "cannot be taken back" : "changed nothing";
      this.done.push({ at_step, time_s, deed, by, edit, undone: false, isUndo: event.undoes !== undefined, note });
    }
  }
}

/** Whether the newest change of a viewer waits for the next step: if it is taken back, it never happens. */
export function waits(edits: EditsInfo | null): boolean {
  return Boolean(edits?.waiting.some(({ by, kind }) => by === edits.viewer && (kind === "do" || kind === "redo")));
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
  if (deed.add) return `add ${deed.add as string}`;
  if (deed.drive && deed.to) return `send ${deed.drive as string} to ${flow(deed.to)}`;
  if (deed.drive) return deed.twist ? `drive ${deed.drive as string} ${flow(deed.twist)}` : `let ${deed.drive as string} go`;
  if (deed.place) return `place ${deed.place as string} at ${flow((deed.pose as number[]).slice(0, 2))}`;
  if (typeof deed.remove === "string") return `remove ${deed.remove}`;
  if (deed.remove) return `tear down ${deed.name as string}`;
  if (deed.repair) return `repair ${deed.repair as string}${deed.fault ? `: ${String(deed.fault).replaceAll("_", " ")}` : ""}`;
  if (deed.restore) return `restore ${deed.restore as string}`;
  if (deed.order) return `order to ${flow((deed.order as Deed).objective_m)}`;
  if (deed.save_ground) return `save the ground as ${deed.save_ground as string}`;
  const thing = ["obstacle", "jam", ...GROUND].find((key) => deed[key]);
  return thing ? String(deed.name ?? thing) : `put up ${String(deed.name ?? "wall")}`;
}
