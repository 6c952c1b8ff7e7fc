/** What a click on the scene does: it selects a robot, or what the tool in hand does. Enter clicks in the middle of the scene. */

import type { App } from "../app";
import { THEMES } from "../theme";
import { ContextMenu } from "./context";
import { h } from "./dom";

/** A tool takes clicks on the scene until it is laid down. A drag still moves the view. */
export interface Tool {
  name: string;
  /** One line that says what to do. */
  hint: string;
  click(x: number, y: number): void;
  /** The pointer has moved to a place [m]. */
  move?(x: number, y: number): void;
  key?(event: KeyboardEvent): void;
  end?(): void;
}

/** A place of the canvas [pixel] that is clicked, and the keys that are held. */
type At = Pick<PointerEvent, "offsetX" | "offsetY" | "ctrlKey" | "metaKey" | "shiftKey">;

const NEAR = 18;
const STILL = 5;

export class Tools {
  tool: Tool | null = null;
  private hint = h("p", { class: "hint", role: "status" });
  private listeners: (() => void)[] = [];
  readonly menu: ContextMenu;

  constructor(private app: App) {
    const { canvas } = app.stage;
    this.menu = new ContextMenu(app);
    app.stage.element.append(this.hint);
    let down: { x: number; y: number } | null = null;
    let fingers = 0;
    canvas.addEventListener("pointerdown", (event) => {
      fingers++;
      down = event.button === 0 && fingers === 1 ? { x: event.offsetX, y: event.offsetY } : null;
    });
    canvas.addEventListener("dblclick", (event) => {
      const robot = this.tool ? -1 : this.nearest(event);
      if (robot >= 0) app.follow(robot);
    });
    let right: { x: number; y: number } | null = null;
    canvas.addEventListener("pointerdown", (event) => (right = event.button === 2 ? { x: event.offsetX, y: event.offsetY } : null));
    canvas.addEventListener("contextmenu", (event) => {
      const points = event.button === 2 || event.pointerType === "touch"; // else it is the menu key
      const [u, v] = points ? [event.offsetX, event.offsetY] : [canvas.clientWidth / 2, canvas.clientHeight / 2];
      if (event.button === 2 && right && Math.hypot(u - right.x, v - right.y) > STILL) return; // the view was turned
      const at = app.view.ground(u, v);
      if (at) this.menu.open(u, v, at.x, at.y, this.nearest({ offsetX: u, offsetY: v }));
    });
    const up = () => (fingers = Math.max(0, fingers - 1));
    canvas.addEventListener("pointercancel", up);
    canvas.addEventListener("pointerup", (event) => {
      up();
      if (!down || Math.hypot(event.offsetX - down.x, event.offsetY - down.y) > STILL) return;
      down = null;
      this.click(event);
    });
    canvas.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      const { clientWidth: width, clientHeight: height } = canvas;
      this.click({ offsetX: width / 2, offsetY: height / 2, ctrlKey: event.ctrlKey, metaKey: event.metaKey, shiftKey: event.shiftKey });
    });
    for (const name of ["focus", "blur"]) canvas.addEventListener(name, () => app.view.draw());
    app.stage.overlays.push((pen) => {
      const at = canvas.matches(":focus-visible") && app.view.ground(canvas.clientWidth / 2, canvas.clientHeight / 2);
      if (!at) return;
      for (const [color, width] of [[THEMES[app.theme].paper, 4], [THEMES[app.theme].ink, 1.5]] as const)
        for (const ends of [[[-9, 0], [9, 0]], [[0, -9], [0, 9]]] as const) pen.shape(at.x, at.y, [...ends], color, undefined, width, false);
    });
    app.keys.add("Robots", "", "Enter", "Click at the cross in the middle (when the scene has the focus)");
    canvas.addEventListener("pointermove", (event) => {
      const at = this.tool?.move && app.view.ground(event.offsetX, event.offsetY);
      if (!at) return;
      this.tool!.move!(at.x, at.y);
      app.view.draw();
    });
    app.keys.onEscape(1, () => Boolean(this.tool) && (this.take(null), true));
    app.keys.onEscape(0, () => app.model.selected.size > 0 && (app.model.select([]), true));
    document.addEventListener("keydown", (event) => {
      if (this.tool?.key && !(event.target as HTMLElement).closest("input, select, textarea, dialog")) this.tool.key(event);
    });
  }

  /** Takes a tool in hand, instead of the one before; null: none. */
  take(tool: Tool | null): void {
    const before = this.tool;
    this.tool = tool;
    before?.end?.();
    this.hint.textContent = tool?.hint ?? "";
    this.app.stage.element.classList.toggle("with-tool", tool !== null);
    for (const listener of this.listeners) listener();
    this.app.view.draw();
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  private click(event: At): void {
    if (!this.tool) return this.pick(event);
    const at = this.app.view.ground(event.offsetX, event.offsetY);
    if (at) this.tool.click(at.x, at.y);
    this.app.view.draw();
  }

  /** Selects the robot under the pointer; with Ctrl or Shift one more, or one less. */
  private pick(event: At): void {
    const { model } = this.app;
    const more = event.ctrlKey || event.metaKey || event.shiftKey;
    const nearest = this.nearest(event);
    const chosen = new Set(more ? model.selected : []);
    if (nearest >= 0) {
      if (more && chosen.has(nearest)) chosen.delete(nearest);
      else chosen.add(nearest);
    }
    model.select(chosen);
  }

  /** The robot under the pointer; -1: there is none. */
  private nearest(event: { offsetX: number; offsetY: number }): number {
    const { model, view } = this.app;
    const pose = model.poses();
    if (!pose) return -1;
    view.ready();
    let [nearest, least] = [-1, NEAR];
    for (let i = 0; i < pose.length / 3; i++) {
      const [u, v] = view.project(pose[3 * i], pose[3 * i + 1]);
      const away = Math.hypot(u - event.offsetX, v - event.offsetY);
      if (away < least) [nearest, least] = [i, away];
    }
    return nearest;
  }
}
