/** What lies under the pointer: coordinates, the cell, and what is known of it. */

import type { App } from "../app";
import type { CellLayer } from "../model";
import { h, seldom, setText } from "./dom";

const CELLS = ["free", "wall", "unknown", "open: outside the world"];

/** Index of the cell of a layer at a place [m]; null: outside. */
export function cellAt({ place }: CellLayer, x: number, y: number): [row: number, column: number] | null {
  const { origin, resolution_m, rows, columns } = place;
  const [c, s] = [Math.cos(origin[2]), Math.sin(origin[2])];
  const [dx, dy] = [x - origin[0], y - origin[1]];
  const column = Math.floor((c * dx + s * dy) / resolution_m);
  const row = Math.floor((c * dy - s * dx) / resolution_m);
  return row >= 0 && column >= 0 && row < rows && column < columns ? [row, column] : null;
}

export function cursor(app: App, told: HTMLElement): HTMLElement {
  const { model } = app;
  const place = h("span", { class: "number" });
  const known = h("span", {});
  const box = h("output", { class: "cursor", "aria-label": "Under the pointer" }, place, known, told);
  let at: { x: number; y: number } | null = null;
  let answered: { x: number; y: number; text: string } | null = null;

  const ask = seldom(() => {
    if (!at || !app.connection || model.hello?.mode !== "live") return;
    app.connection.send({ type: "probe", x: at.x, y: at.y });
  }, 250);
  app.onMessage("probe", (header) => {
    answered = { x: header.x as number, y: header.y as number, text: header.text as string };
    show();
  });
  const show = () => {
    if (!at) {
      setText(place, "");
      setText(known, "");
      return;
    }
    const { x, y } = at;
    const value = (name: string) => {
      const layer = model.layers.get(name);
      const cell = layer && cellAt(layer, x, y);
      return cell ? { cell, value: layer.cells[cell[0] * layer.place.columns + cell[1]] } : null;
    };
    const truth = value("truth");
    const seen = value("first_explored");
    const parts = [`x ${x.toFixed(2)} m, y ${y.toFixed(2)} m`];
    if (truth) parts.push(`row ${truth.cell[0]}, column ${truth.cell[1]}`);
    setText(place, parts.join("   "));
    const words = [];
    if (truth) words.push(CELLS[truth.value] ?? String(truth.value));
    if (seen && (truth?.value !== 1 || seen.value >= 0)) { // when walls were seen is not measured
      const is = seen.value >= 0 && seen.value <= model.step();
      words.push(is ? `first seen at ${(seen.value * model.hello!.step_s).toFixed(1)} s` : "not seen yet");
    }
    const near = answered && model.shown === null && Math.hypot(answered.x - x, answered.y - y) < (model.hello?.world.resolution_m ?? 0);
    if (near && answered!.text) words.push(answered!.text);
    setText(known, words.join(", "));
  };
  const speaks = (live: "polite" | "off") => [box, told].forEach((one) => (one.ariaLive = live)); // not all the way of a mouse
  app.view.canvas.addEventListener("keydown", () => speaks("polite"));
  app.view.canvas.addEventListener("pointermove", (event) => {
    speaks("off");
    const ground = app.view.ground(event.offsetX, event.offsetY);
    at = ground && { x: ground.x, y: ground.y };
    show();
    ask();
  });
  app.view.canvas.addEventListener("pointerleave", () => {
    at = null;
    show();
  });
  app.view.afterDraw.push(() => {
    const { canvas } = app.view;
    if (!canvas.matches(":focus-visible:not(:hover)")) return; // who has no mouse points with the middle of the scene
    const ground = app.view.ground(canvas.clientWidth / 2, canvas.clientHeight / 2);
    at = ground && { x: ground.x, y: ground.y };
    show();
    ask();
  });
  app.view.canvas.addEventListener("blur", () => {
    at = null;
    show();
  });
  model.onChange(seldom(show, 250));
  return box;
}
