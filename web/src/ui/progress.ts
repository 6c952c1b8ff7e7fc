/** How far the mission is, the time that is left, and how fast a run really goes. */

import type { Model } from "../model";
import { short, wordsOf } from "./words";

/** What the header says of each mission: measurements and their words. */
const MAIN: Record<string, [name: string, words: string][]> = {
  exploration: [["explored_share_union", "explored"]],
  coverage: [["covered_share", "covered"]],
  patrolling: [["graph_idleness_s", "idleness"]],
  formation: [["robots_arrived", "arrived"]],
  rescue: [["score", "score"], ["targets_found", "found"]],
};

/** What the team has achieved at the time that is shown; of now, while the run lasts, the time that is left, too. */
export function achieved(model: Model, lasts: boolean): string {
  const { hello, series, times } = model;
  const main = MAIN[hello!.mission.kind] ?? [[[...series.keys()][0] ?? "", ""]];
  const now = model.step() * hello!.step_s + 1e-6;
  let at = times.length - 1;
  while (at >= 0 && times[at] > now) at--;
  const said = main.flatMap(([name, words]) => {
    const value = series.get(name)?.[at] ?? null;
    if (value === null) return [];
    const of = name === "targets_found" && hello!.targets?.length ? ` of ${hello!.targets.length}` : "";
    const text = name.includes("_share") ? `${(100 * value).toFixed(1)} %` : `${short(value)}${name.endsWith("_s") ? " s" : name.endsWith("_m") ? " m" : ""}`;
    return [`${words || wordsOf(name).replace(/ \[.*/, "")} ${text}${of}`];
  });
  const end_s = Math.min(hello!.timeout_s ?? Infinity, (hello!.mission.time_limit_s as number | null | undefined) ?? Infinity);
  const isNow = lasts && model.shown === null && model.frame?.status == null;
  if (Number.isFinite(end_s) && isNow) said.push(`${clock(end_s - now)} left`);
  return said.join(" · ");
}

/** The plot that a page begins with: the main measurement of the mission; of robots that see nothing, how fast they are. */
export function firstPlot({ hello, series, measured }: Model): string | null {
  const { mission, layers } = hello!;
  if (mission.kind === "exploration" && !layers.includes("first_explored")) return measured.values.has("speed_m_s") ? "robot speed_m_s" : null;
  const name = MAIN[mission.kind]?.[0][0] ?? [...series.keys()][0];
  return name && series.has(name) ? `team ${name}` : null;
}

/** A length of time as minutes and seconds. */
export function clock(time_s: number): string {
  const whole = Math.max(Math.ceil(time_s - 1e-3), 0);
  const [hours, minutes, seconds] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (value: number) => String(value).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(seconds)} h` : `${minutes}:${two(seconds)}`;
}

/** Simulated seconds per second of the last few seconds. */
export class Pace {
  private seen: [wall_s: number, time_s: number][] = [];

  take(wall_s: number, time_s: number): void {
    const last = this.seen.at(-1);
    if (last && (time_s < last[1] || wall_s - last[0] > 1.5)) this.seen = []; // another run, or a pause
    if (this.seen.at(-1)?.[1] === time_s) return;
    this.seen.push([wall_s, time_s]);
    while (this.seen.length > 2 && wall_s - this.seen[0][0] > 3) this.seen.shift();
  }

  /** Null: it is not known yet. */
  get factor(): number | null {
    const [first, last] = [this.seen[0], this.seen.at(-1)];
    return first && last && last[0] - first[0] > 0.5 ? (last[1] - first[1]) / (last[0] - first[0]) : null;
  }
}
