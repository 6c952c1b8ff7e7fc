/** The frame of the page: header, left column, scene, right column, time line. The columns fold away. */

import { h, iconButton, panel, remember, remembered } from "./dom";
import type { Icon } from "./icons";

const NARROW = matchMedia("(max-width: 800px)");

export class Shell {
  readonly title = h("h1", {}, "Covey");
  readonly tools = h("div", { class: "tools", role: "toolbar", "aria-label": "View" });
  readonly left = h("aside", { id: "left", class: "column", "aria-label": "Robots" });
  readonly right = h("aside", { id: "right", class: "column", "aria-label": "Layers, editing and plots" });
  readonly bottom = h("footer", { class: "bottom", "aria-label": "Time line" });
  readonly notice = h("p", { role: "status", class: "notice", "aria-live": "polite" });
  /** Bodies of the panels in the right column; an empty one is not shown. */
  readonly result = h("div", { id: "result", class: "panel-body" });
  readonly layers = h("div", { id: "layers", class: "panel-body" });
  readonly edit = h("div", { id: "edit", class: "panel-body" });
  readonly plots = h("div", { id: "plots", class: "panel-body" });

  constructor(root: HTMLElement) {
    const { left, right, title, tools, bottom } = this;
    right.append(panel("Result", this.result), panel("Layers", this.layers), panel("Edit", this.edit), panel("Plots", this.plots));
    const header = h("header", {}, fold(left, "left", "Robots", right), title, tools, fold(right, "right", "Layers, editing and plots", left));
    root.append(header, left, right, bottom);
  }

  /** Closes the column that lies over the scene, where there is little room; returns whether there was one. */
  uncover(): boolean {
    const over = [this.left, this.right].find((column) => NARROW.matches && !column.hidden);
    if (!over) return false;
    over.hidden = true;
    over.dispatchEvent(new Event("fold"));
    document.querySelector<HTMLElement>(`[aria-controls="${over.id}"]`)!.focus();
    return true;
  }

  /** Takes in the scene. */
  place(stage: HTMLElement): void {
    stage.append(this.notice);
    this.left.after(stage);
  }
}

/** A button that folds a column away; where there is little room, one column is open at most. */
function fold(column: HTMLElement, picture: Icon, name: string, other: HTMLElement): HTMLElement {
  const button = iconButton(picture, name, () => {
    show(Boolean(column.hidden));
    if (!NARROW.matches) remember(column.id, column.hidden ? "closed" : "open");
  });
  button.setAttribute("aria-controls", column.id);
  const show = (open: boolean) => {
    column.hidden = !open;
    if (open && NARROW.matches) other.hidden = true;
    column.dispatchEvent(new Event("fold"));
    other.dispatchEvent(new Event("fold"));
  };
  column.addEventListener("fold", () => button.setAttribute("aria-expanded", String(!column.hidden)));
  const begin = () => show(!NARROW.matches && remembered(column.id) !== "closed");
  NARROW.addEventListener("change", begin);
  queueMicrotask(begin);
  return button;
}
