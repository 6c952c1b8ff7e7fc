/** Messages in flight: a dot goes from the sender to the receiver; a cross stands where one is lost. */

import { data, type Context } from "../layers";
import { lineColor } from "../theme";
import type { Pen, Point } from "./overlay";

/** How long the way of a message that has ended is shown [ms], and how often it is drawn meanwhile. */
const LASTS_MS = 500;
const EVERY_MS = 100;
/** Where a dot stands while the run does, and where a cross, as a part of the way. */
const STANDS = 0.75;
const LOST = 0.6;
/** Largest number of crosses with words. */
const WORDS = 20;
const isCalm = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;

interface Flight {
  from: number;
  to: number;
  bytes: number;
  cause: number;
  /** Part of the way at which it was when it ended; of one that lasts, where it is. */
  part: number;
  /** When it ended, by the clock of the wall [ms]; Infinity: it lasts. */
  ended: number;
}

const state = { arrays: null as object | null, step: -1, flights: new Map<string, Flight>() };

/** Takes in a frame. */
function take(context: Context, stands: boolean): void {
  const [rows, parts] = [data(context, "message"), data(context, "message_part")];
  const { arrays, frame } = context.model;
  if (state.arrays === arrays) return;
  const again = frame!.step === state.step; // what has ended was told before
  Object.assign(state, { arrays, step: frame!.step });
  const before = state.flights;
  const now = performance.now();
  const keep = (ended: number) => ended < Infinity && (again || (!stands && now - ended < LASTS_MS));
  state.flights = new Map([...before].filter(([, flight]) => keep(flight.ended)));
  for (let k = 0; rows && parts && k < parts.length; k++) {
    const [number, from, to, bytes, cause] = rows.subarray(5 * k, 5 * k + 5);
    const key = `${number} ${from} ${to}`;
    const over = parts[k] >= 1;
    if (over && again) continue;
    const part = over ? (before.get(key)?.part ?? 0) : parts[k];
    state.flights.set(key, { from, to, bytes, cause, part, ended: over ? now : Infinity });
  }
}

let later = 0;

export function drawFlights(pen: Pen, context: Context): void {
  const { model, hello, colors, radius } = context;
  const pose = model.poses();
  if (!pose || !data(context, "message")) return state.flights.clear();
  const stands = isCalm() || !model.frame!.playing;
  take(context, stands);
  const now = performance.now();
  const g = pen.g;
  let moving = false;
  let words = WORDS;
  for (const { from, to, bytes, cause, part, ended } of state.flights.values()) {
    const age = Math.min((now - ended) / LASTS_MS, 1);
    if (age >= 1 && !stands) continue;
    const lasts = ended === Infinity;
    moving ||= !lasts && !stands;
    const most = cause ? LOST : stands ? STANDS : 1;
    const t = lasts ? part : stands ? Math.max(most, part) : Math.min(part + (1 - part) * age, most);
    const color = lineColor(from, hello.robots.length, colors);
    const [x, y] = [pose[3 * from], pose[3 * from + 1]];
    const r = Math.min(2.5 + Math.log10(Math.max(bytes, 10) / 10), 6);
    if (to < 0) {
      if (cause) cross(pen, x, y, colors.bad, colors.paper, radius(from) + 8);
      else pen.ring(x, y, radius(from) + 4 + 14 * t, color, 1.5, undefined, [2, 3]); // to all who hear it
      continue;
    }
    const at: Point = [x + t * (pose[3 * to] - x), y + t * (pose[3 * to + 1] - y)];
    g.globalAlpha = 0.5;
    pen.line([[x, y], at], cause ? colors.bad : color, 1.5, cause ? [3, 4] : []);
    g.globalAlpha = 1;
    if (!cause) pen.ring(...at, r, colors.paper, 1.5, color);
    else {
      cross(pen, ...at, colors.bad, colors.paper);
      const why = (model.frame!.message_causes as string[])[cause];
      if (words-- > 0) pen.text(why, ...at, colors.bad, colors.paper, 9, 0, false, 11);
    }
  }
  if (!moving || later) return;
  later = window.setTimeout(() => {
    later = 0;
    pen.view.draw();
  }, EVERY_MS);
}

export function cross(pen: Pen, x: number, y: number, color: string, edge: string, above = 0): void {
  for (const [one, width] of [[edge, 5.5], [color, 2.5]] as const) {
    pen.shape(x, y, [[-5, above - 5], [5, above + 5]], one, undefined, width, false);
    pen.shape(x, y, [[-5, above + 5], [5, above - 5]], one, undefined, width, false);
  }
}
