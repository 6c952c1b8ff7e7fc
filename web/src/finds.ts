/** Targets of a search: what was found, what was not there, and where robots met, up to the step that is shown. */

import { folded } from "./folded";
import type { Context, Legend } from "./layers";
import type { EventInfo } from "./messages";
import type { Pen, Point } from "./scene/overlay";

type At = [x: number, y: number];

class Finds {
  found = new Set<number>();
  falseAlarms: At[] = [];
  falseReports: At[] = [];
  meetings: At[] = [];

  constructor(private rescue: boolean) {}

  /** Takes in an event: a camera has read a marker, a robot has reported one, or some have met. */
  take({ kind, data = {}, other, x, y }: EventInfo): void {
    const at: At = [x ?? NaN, y ?? NaN];
    if (kind === "sighted" && !data.is_true) this.falseAlarms.push(at);
    else if (kind === "sighted" && !this.rescue) this.found.add(Number(other));
    if (kind !== "mission") return;
    if ("meeting" in data) this.meetings.push(at);
    if (data.answer === "accepted") this.found.add(Number(data.reported));
    else if (data.answer === "too far" || data.answer === "unknown identity") this.falseReports.push([Number(data.x_m), Number(data.y_m)]);
  }
}

const findsOf = folded((model) => new Finds(model.hello!.mission.kind === "rescue"), (finds, event) => finds.take(event));

const PLUS: Point[] = [[-2, -6], [2, -6], [2, -2], [6, -2], [6, 2], [2, 2], [2, 6], [-2, 6], [-2, 2], [-6, 2], [-6, -2], [-2, -2]];
const STAR: Point[] = Array.from({ length: 10 }, (_, k) => {
  const [r, angle] = [k % 2 ? 3.8 : 9, (k * Math.PI) / 5];
  return [r * Math.sin(angle), r * Math.cos(angle)];
});
const SHAPES: Record<string, Point[]> = { victim: PLUS, small_fire: [[-6, -5], [6, -5], [0, 7]], big_fire: STAR };
const SQUARE: Point[] = [[-5, -5], [5, -5], [5, 5], [-5, 5]];
/** With more targets, their identities are not written. */
const NUMBERED = 40;

export function drawFinds(pen: Pen, { model, hello, colors }: Context): void {
  const { found, falseAlarms, falseReports, meetings } = findsOf(model);
  const targets = hello.targets ?? [];
  for (const [x, y] of meetings) {
    pen.ring(x, y, 15, colors.paper, 4);
    pen.ring(x, y, 15, colors.ink, 2);
  }
  for (const [places, size, width] of [[falseAlarms, 4, 1.5], [falseReports, 6, 3]] as const)
    for (const [x, y] of places)
      for (const [color, wide] of [[colors.paper, width + 3], [colors.bad, width]] as const) {
        pen.shape(x, y, [[-size, -size], [size, size]], color, undefined, wide, false);
        pen.shape(x, y, [[-size, size], [size, -size]], color, undefined, wide, false);
      }
  for (const { kind, identity, position_m: [x, y] } of targets) {
    const shape = SHAPES[kind] ?? SQUARE;
    if (found.has(identity)) pen.shape(x, y, shape, colors.paper, colors.searched, 1);
    else pen.shape(x, y, shape, colors.left, colors.paper, 2);
    if (targets.length <= NUMBERED) pen.text(String(identity), x, y, found.has(identity) ? colors.ink : colors.left, colors.paper, 9, 9, false, 11);
  }
}

export function findsLegend({ model, hello, colors }: Context): Legend {
  const { found, falseAlarms, falseReports, meetings } = findsOf(model);
  const total = hello.targets?.length ?? 0;
  const keys: [string, string][] = [
    [colors.searched, `${found.size} of ${total} found: ✚ victim, ▲ small fire, ★ big fire, ■ other`],
    [colors.left, "not found yet"],
  ];
  if (falseAlarms.length || falseReports.length) keys.push([colors.bad, "✕ false alarm, large: false report"]);
  if (meetings.length) keys.push([colors.ink, "◯ meeting"]);
  return { keys };
}
