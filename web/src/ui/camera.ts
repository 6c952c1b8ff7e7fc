/** What the view shows: everything, the selection, flat or perspective; by buttons and keys. */

import type { App } from "../app";
import { h, iconButton } from "./dom";

const PIXELS = 60;

export function viewTools(app: App): HTMLElement[] {
  const { view, keys, model } = app;
  const fit = iconButton("fit", "Fit all", () => app.fit(), "f");
  const selection = iconButton("selection", "Fit selection", () => fitSelection(app), "g");
  const deep = iconButton("deep", "Perspective", () => {
    view.perspective = !view.perspective;
    deep.setAttribute("aria-pressed", String(view.perspective));
    view.refit();
  }, "v");
  deep.setAttribute("aria-pressed", "false");
  model.onChange(() => {
    selection.disabled = !model.selected.size;
    deep.setAttribute("aria-pressed", String(view.perspective));
  });
  keys.add("View", "f", "f", "Fit all", () => fit.click());
  keys.add("View", "g", "g", "Fit the selected robots", () => selection.click());
  keys.add("View", "v", "v", "Flat or perspective", () => deep.click());
  keys.add("View", "+", "+", "Zoom in", () => view.zoom(1 / 1.25));
  keys.add("View", "-", "−", "Zoom out", () => view.zoom(1.25));
  keys.add("View", "", "← → ↑ ↓", "Move the view (when the scene has the focus)");
  keys.add("View", "", "Shift ← → ↑ ↓", "Turn the perspective view");
  keys.add("View", "", "drag, wheel, two fingers", "Move and zoom");
  keys.add("View", "", "right drag, Shift drag", "Turn the perspective view");
  view.canvas.addEventListener("keydown", (event) => {
    const [x, y] = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key] ?? [0, 0];
    if ((!x && !y) || event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
    event.preventDefault();
    if (!event.shiftKey) view.pan(x * PIXELS, y * PIXELS);
    else if (view.perspective) view.orbit(x * 0.12, y * 0.1);
  });
  return [fit, selection, deep, h("span", { class: "gap" })];
}

/** Shows the selected robots, with some room around them. */
function fitSelection({ model, view }: App): void {
  const pose = model.poses();
  const chosen = [...model.selected];
  if (!pose || !chosen.length) return;
  const xs = chosen.map((i) => pose[3 * i]);
  const ys = chosen.map((i) => pose[3 * i + 1]);
  const room = 2;
  view.fit({ left: Math.min(...xs) - room, right: Math.max(...xs) + room, bottom: Math.min(...ys) - room, top: Math.max(...ys) + room });
}
