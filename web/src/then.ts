/** What a run that lasts told at a step of its past, put together from what the page has kept. */

import { flagsAt } from "./flags";
import type { Model, Told } from "./model";
import { newest } from "./recorded";
import type { LinkChange } from "./past";

/** Flags, links, tags and measurements at a step, as a frame would have told them. */
export function stateAt(model: Model, step: number): Told {
  const { events, linkChanges, measured, hello } = model;
  const arrays = new Map([["flags", { data: flagsAt(model, step), shape: [hello!.robots.length] }]]) as Told["arrays"];
  const pairs = linksAt(linkChanges, step);
  arrays.set("link", { data: Int32Array.from(pairs), shape: [pairs.length / 2, 2] });
  arrays.set("link_chance", { data: new Float32Array(pairs.length / 2).fill(1), shape: [pairs.length / 2] });
  const tags = events.flatMap(({ kind, step: at, x, y }) => (kind === "tag_left" && at <= step ? [x ?? NaN, y ?? NaN] : []));
  arrays.set("tag", { data: Float32Array.from(tags), shape: [tags.length / 2, 2] });
  const { times, values } = measured;
  const row = newest(times.length, (k) => times[k], step * hello!.step_s + 1e-6);
  const measures = new Map([...values].map(([name, rows]) => [name, Float32Array.from(rows[row] ?? [])]));
  return { arrays, measures };
}

/** The links at a step: robot and other, one after the other. */
export function linksAt(changes: LinkChange[], step: number): number[] {
  const up = new Map<string, [number, number]>();
  for (const [at, i, j, on] of changes) {
    if (at > step) break;
    if (on) up.set(`${i} ${j}`, [i, j]);
    else up.delete(`${i} ${j}`);
  }
  return [...up.values()].flat();
}
