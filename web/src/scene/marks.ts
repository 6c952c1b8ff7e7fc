/** Marks on robots: selected, stopped, without radio, stuck. */

import { stuckNow, type Context } from "../layers";
import type { Pen } from "./overlay";
import { FLAGS } from "./robots";

export function marks(pen: Pen, { model, hello, colors, radius }: Context): void {
  const pose = model.poses();
  if (!pose) return;
  const flags = model.arrays.get("flags")?.data;
  const stuck = stuckNow(model);
  hello.robots.forEach(({ name }, i) => {
    const [x, y] = [pose[3 * i], pose[3 * i + 1]];
    const r = radius(i);
    if (model.selected.has(i)) {
      pen.ring(x, y, r + 4, colors.paper, 4.5);
      pen.ring(x, y, r + 4, colors.accent, 2.5);
    }
    const flag = flags?.[i] ?? 0;
    if (flag & (FLAGS.halted | FLAGS.gone)) {
      for (const [color, width] of [[colors.paper, 5], [colors.ink, 2.5]] as const) {
        pen.shape(x, y, [[-r, -r], [r, r]], color, undefined, width, false);
        pen.shape(x, y, [[-r, r], [r, -r]], color, undefined, width, false);
      }
    } else if (flag & FLAGS.mute) badge(pen, x, y, r, colors.ink, colors.paper, "mute");
    if (stuck.has(name)) badge(pen, x, y, r, colors.frontier, colors.paper, "stuck");
  });
}

/** A small sign above a robot: a struck-out wave, or a triangle. */
function badge(pen: Pen, x: number, y: number, r: number, color: string, edge: string, kind: "mute" | "stuck"): void {
  const g = pen.g;
  const [px, py] = pen.at(x, y);
  const [cx, cy] = [px + (kind === "mute" ? -r - 2 : r + 2), py - r - 5];
  g.fillStyle = edge;
  g.strokeStyle = color;
  g.lineWidth = 1.5;
  g.beginPath();
  if (kind === "stuck") {
    g.moveTo(cx, cy - 7);
    g.lineTo(cx + 7, cy + 5);
    g.lineTo(cx - 7, cy + 5);
    g.closePath();
    g.fill();
    g.stroke();
    g.fillStyle = color;
    g.fillRect(cx - 1, cy - 3, 2, 4);
    g.fillRect(cx - 1, cy + 2, 2, 2);
    return;
  }
  g.arc(cx, cy, 7, 0, 2 * Math.PI);
  g.fill();
  g.stroke();
  for (const radius of [2, 4.5]) {
    g.beginPath();
    g.arc(cx, cy + 2, radius, 1.25 * Math.PI, 1.75 * Math.PI);
    g.stroke();
  }
  g.beginPath();
  g.moveTo(cx - 5, cy - 5);
  g.lineTo(cx + 5, cy + 5);
  g.stroke();
}
