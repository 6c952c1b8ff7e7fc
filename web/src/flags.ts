/** Which robots had stopped, were gone, or had no radio, by the events up to a step. */

import { folded } from "./folded";
import type { Model } from "./model";

const HALTED = 1;
const GONE = 2;
const MUTE = 4;

/** What is active on each robot, by its name, and who has vanished. */
const suffered = folded(() => ({ active: new Map<string, Set<string>>(), gone: new Set<string>() }), ({ active, gone }, { kind, robot, other, data }) => {
  if (!robot || !["fault", "recovered", "controller_failed"].includes(kind)) return;
  const its = active.get(robot) ?? new Set<string>();
  active.set(robot, its);
  if (kind === "recovered") its.delete(other ?? "");
  else its.add(kind === "fault" ? (other ?? "") : kind);
  if (kind === "fault" && data?.vanishes) gone.add(robot);
});

/** The flags of each robot, as in a frame: a robot that died or whose controller failed has halted, a dead one is mute, too. */
export function flagsAt(model: Model, step: number): Uint8Array {
  const { active, gone } = suffered(model, step);
  return Uint8Array.from(model.hello!.robots, ({ name }) => {
    const its = active.get(name);
    const dead = its?.has("dies") ?? false;
    const halted = dead || Boolean(its?.has("controller_failed"));
    return HALTED * Number(halted) + GONE * Number(gone.has(name)) + MUTE * Number(dead || Boolean(its?.has("radio_dies")));
  });
}
