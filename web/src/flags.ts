/** Which robots had stopped, were gone, or had no radio, by the events up to a step. */

import type { EventInfo } from "./messages";
import type { Model } from "./model";

const HALTED = 1;
const GONE = 2;
const MUTE = 4;

interface Known {
  events: EventInfo[];
  upTo: number;
  step: number;
  active: Map<string, Set<string>>;
  gone: Set<string>;
}

const known = new WeakMap<Model, Known>();

/** The flags of each robot, as in a frame: a robot that died or whose controller failed has halted, a dead one is mute, too. */
export function flagsAt(model: Model, step: number): Uint8Array {
  let now = known.get(model);
  if (!now || now.events !== model.events || step < now.step || now.upTo > model.events.length)
    known.set(model, (now = { events: model.events, upTo: 0, step, active: new Map(), gone: new Set() }));
  now.step = step;
  while (now.upTo < model.events.length && model.events[now.upTo].step <= step) take(now, model.events[now.upTo++]);
  const { active, gone } = now;
  return Uint8Array.from(model.hello!.robots, ({ name }) => {
    const its = active.get(name);
    const dead = its?.has("dies") ?? false;
    const halted = dead || Boolean(its?.has("controller_failed"));
    return HALTED * Number(halted) + GONE * Number(gone.has(name)) + MUTE * Number(dead || Boolean(its?.has("radio_dies")));
  });
}

function take({ active, gone }: Known, { kind, robot, other, text }: EventInfo): void {
  if (!robot || !["fault", "recovered", "controller_failed"].includes(kind)) return;
  const its = active.get(robot) ?? new Set<string>();
  active.set(robot, its);
  if (kind === "recovered") its.delete(other ?? "");
  else its.add(kind === "fault" ? (other ?? "") : kind);
  if (kind === "fault" && text?.includes("vanishes True")) gone.add(robot);
}
