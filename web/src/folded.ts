/** What the events of a run amount to at a step. */

import type { EventInfo } from "./messages";
import type { Model } from "./model";

/** Returns what gives the sum of the events up to a step, at first the one that is shown; each is taken in once, unless the time goes back. */
export function folded<T>(begin: (model: Model) => T, take: (sum: T, event: EventInfo) => void): (model: Model, step?: number) => T {
  const known = new WeakMap<Model, { events: EventInfo[]; upTo: number; step: number; sum: T }>();
  return (model, step = model.step()) => {
    const { events } = model;
    let one = known.get(model);
    if (!one || one.events !== events || step < one.step || one.upTo > events.length) known.set(model, (one = { events, upTo: 0, step, sum: begin(model) }));
    one.step = step;
    while (one.upTo < events.length && events[one.upTo].step <= step) take(one.sum, events[one.upTo++]);
    return one.sum;
  };
}
