/** Measures a distance along points, or an area between them. */

import type { App } from "../app";
import type { Pen, Point } from "../scene/overlay";
import { THEMES } from "../theme";
import { iconButton } from "./dom";
import type { Tool } from "./tools";

export function length_m(points: readonly Point[]): number {
  return points.slice(1).reduce((sum, [x, y], k) => sum + Math.hypot(x - points[k][0], y - points[k][1]), 0);
}

/** Area of a polygon [m²], by the shoelace formula. */
export function area_m2(points: readonly Point[]): number {
  const n = points.length;
  return Math.abs(points.reduce((sum, [x, y], k) => sum + x * points[(k + 1) % n][1] - points[(k + 1) % n][0] * y, 0)) / 2;
}

export function measureTools(app: App, told: HTMLElement): HTMLElement[] {
  let points: Point[] = [];
  let at: Point | null = null;
  let closed = false;
  const tell = () => {
    const all = at ? [...points, at] : points;
    const text = closed ? `${area_m2(all).toFixed(2)} m²` : `${length_m(all).toFixed(2)} m`;
    told.textContent = all.length > 1 ? text : "";
  };
  const tool = (area: boolean): Tool => ({
    name: area ? "area" : "distance",
    hint: area ? "Click the corners of the area. Esc ends." : "Click the points of the way. Esc ends.",
    click(x, y) {
      points.push([x, y]);
      at = null;
      tell();
    },
    move(x, y) {
      if (!points.length) return;
      at = [x, y];
      tell();
    },
    key(event) {
      if (event.key !== "Backspace") return;
      points.pop();
      tell();
      app.view.draw();
    },
    end() {
      points = [];
      at = null;
      told.textContent = "";
    },
  });
  const distance = iconButton("ruler", "Measure a distance", () => toggle(false), "m");
  const area = iconButton("area", "Measure an area", () => toggle(true), "a");
  const toggle = (wanted: boolean) => {
    const held = app.tools.tool?.name === (wanted ? "area" : "distance");
    app.tools.take(held ? null : tool(wanted));
    closed = wanted;
  };
  app.tools.onChange(() => {
    distance.setAttribute("aria-pressed", String(app.tools.tool?.name === "distance"));
    area.setAttribute("aria-pressed", String(app.tools.tool?.name === "area"));
  });
  for (const button of [distance, area]) button.setAttribute("aria-pressed", "false");
  app.keys.add("View", "m", "m", "Measure a distance", () => distance.click());
  app.keys.add("View", "a", "a", "Measure an area", () => area.click());
  app.stage.overlays.push((pen: Pen) => {
    if (!points.length) return;
    const colors = THEMES[app.theme];
    const all = at ? [...points, at] : points;
    if (closed && all.length > 2) pen.area(all, colors.accent, 0.18);
    pen.line(all, colors.accent, 2, [], closed && all.length > 2);
    for (const [x, y] of points) pen.ring(x, y, 4, colors.accent, 2, colors.paper);
  });
  return [distance, area];
}
