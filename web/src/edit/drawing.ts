/** Drawing in the scene: what is dragged or clicked fills the fields of a tool's form; a drag on a robot moves it, with any tool. */

import type { App } from "../app";
import type { Deed, DoorInfo, EditsInfo } from "../messages";
import type { Pen, Point } from "../scene/overlay";
import { THEMES } from "../theme";
import { circle, type Session } from "./session";
import type { Gesture } from "./tools";

/** What the server has told of the changes of viewers. */
export interface Waiting {
  edits: EditsInfo | null;
}

/** What has been drawn: numbers by field, and the robot that was dragged. */
export type Drawn = Record<string, string>;

const NEAR = 14;

export class Drawing {
  /** How the tool is drawn; null: it is not. */
  private gesture: Gesture | null = null;
  private on = false;
  private begun: Point | null = null;
  private now: Point | null = null;
  private robot: number | null = null;

  constructor(
    private app: App,
    private session: Session,
    private waiting: Waiting,
    private drawn: (fields: Drawn, done: boolean) => void,
    private clicked: (x: number, y: number) => boolean,
    private carried: (deed: Deed) => void,
  ) {
    const stage = app.stage.element;
    const take = (event: PointerEvent) => {
      event.stopPropagation();
      event.preventDefault();
    };
    const listen = (name: "pointerdown" | "pointermove" | "pointerup", run: (event: PointerEvent) => void) =>
      stage.addEventListener(name, (event) => event.target === app.view.canvas && run(event), { capture: true });
    listen("pointerdown", (event) => {
      if (event.button || !app.model.hello) return;
      const at = this.place(event);
      if (!at || !this.on) return;
      if (this.clicked(...at)) return take(event);
      this.robot = this.nearest(event);
      if (this.robot === null && !this.drags) return;
      take(event);
      app.view.canvas.setPointerCapture(event.pointerId);
      this.begun = this.now = at;
      if (this.gesture === "brush" && this.robot === null) this.tell(true);
      app.view.draw();
    });
    listen("pointermove", (event) => {
      if (!this.begun) return;
      take(event);
      const at = this.place(event);
      if (!at) return;
      const far = Math.hypot(at[0] - this.now![0], at[1] - this.now![1]) / app.view.pixel_m;
      const dabs = this.gesture === "brush" && this.robot === null;
      if (dabs && far < 24) return;
      this.now = at;
      if (this.gesture && (this.robot === null || this.gesture === "robot")) this.tell(dabs);
      app.view.draw();
    });
    listen("pointerup", (event) => {
      if (!this.begun) return;
      take(event);
      const moved = Math.hypot(this.now![0] - this.begun[0], this.now![1] - this.begun[1]) / app.view.pixel_m > 4;
      if (this.robot !== null && !moved && !this.drags) {
        app.model.select([this.robot]);
        this.drawn({ robot: app.model.hello!.robots[this.robot].name }, false);
      } else if (this.robot !== null && moved && this.gesture !== "robot") this.carry(this.robot);
      else if (this.gesture === "brush") this.robot !== null && this.tell(true);
      else if (moved || this.gesture === "point" || this.gesture === "pose") this.tell(true);
      this.begun = this.now = this.robot = null;
      app.view.draw();
    });
    app.stage.overlays.push((pen) => this.draw(pen));
  }

  /** Begins or ends drawing; a tool without a gesture only lets robots be moved. */
  set(on: boolean, gesture: Gesture | null): void {
    [this.on, this.gesture] = [on, on ? gesture : null];
    this.begun = this.now = this.robot = null;
    this.app.view.canvas.style.cursor = on ? "crosshair" : "";
    this.app.view.draw();
  }

  /** Whether the tool is drawn beside robots, too. */
  private get drags(): boolean {
    return this.gesture !== null && this.gesture !== "robot";
  }

  private place(event: PointerEvent): Point | null {
    const at = this.app.view.ground(event.offsetX, event.offsetY);
    return at && [at.x, at.y];
  }

  private nearest(event: PointerEvent): number | null {
    const { model, view, stage } = this.app;
    const pose = model.poses();
    let best: number | null = null;
    let least = Infinity;
    model.hello!.robots.forEach((_, i) => {
      const [u, v] = view.pixel(pose![3 * i], pose![3 * i + 1]);
      const away = Math.hypot(u - event.offsetX, v - event.offsetY);
      const reach = Math.max(NEAR, (stage.robots?.radius[i] ?? 0) / view.pixel_m);
      if (away < least && away <= reach) [best, least] = [i, away];
    });
    return best;
  }

  /** Lets a robot be placed where it was dragged; it looks where it looked. */
  private carry(robot: number): void {
    const { hello } = this.app.model;
    const heading = (this.app.model.poses()![3 * robot + 2] * 180) / Math.PI;
    this.carried({ place: hello!.robots[robot].name, pose: [...this.now!, heading].map((value) => Number(value.toFixed(2))) });
  }

  private tell(done: boolean): void {
    const [[x0, y0], [x1, y1]] = [this.begun!, this.now!];
    const m = (value: number) => String(Number(value.toFixed(2)));
    const robot = this.robot;
    const fields: Record<Gesture, Drawn> = {
      point: { x: m(x1), y: m(y1) },
      brush: { x: m(x1), y: m(y1) },
      line: { x: m(x0), y: m(y0), x2: m(x1), y2: m(y1) },
      box: { left: m(Math.min(x0, x1)), bottom: m(Math.min(y0, y1)), right: m(Math.max(x0, x1)), top: m(Math.max(y0, y1)) },
      disc: { x: m(x0), y: m(y0), radius: m(Math.hypot(x1 - x0, y1 - y0)) },
      robot: { x: m(x1), y: m(y1) },
      pose: { x: m(x0), y: m(y0) },
    };
    const drawn = fields[this.gesture!];
    if (robot !== null) {
      drawn.robot = this.app.model.hello!.robots[robot].name;
      drawn.heading = m((this.app.model.poses()![3 * robot + 2] * 180) / Math.PI);
    }
    const turned = this.gesture === "pose" && Math.hypot(x1 - x0, y1 - y0) / this.app.view.pixel_m > 8;
    if (turned) drawn.heading = String(Math.round((Math.atan2(y1 - y0, x1 - x0) * 180) / Math.PI));
    this.drawn(drawn, done);
  }

  private draw(pen: Pen): void {
    const { bad, accent } = { bad: "#d55e00", accent: THEMES[this.app.theme].accent };
    const step = this.app.model.step();
    for (const { area, from, to } of this.session.jams) {
      if (step < from || step >= to) continue;
      pen.area(area, bad, 0.12);
      pen.line(area, bad, 2, [3, 5], true);
      const [x, y] = [0, 1].map((k) => area.reduce((sum, point) => sum + point[k], 0) / area.length);
      pen.text("no radio", x, y, bad, THEMES[this.app.theme].paper, -24);
    }
    for (const { kind, deeds } of this.waiting.edits?.waiting ?? []) for (const deed of deeds) this.pending(pen, deed, kind === "undo", accent);
    if (!this.begun || !this.now) return;
    const [a, b] = [this.begun, this.now];
    const color = accent;
    if (this.robot !== null) {
      pen.line([a, b], color, 2.5, [6, 4]);
      pen.ring(...b, this.app.stage.context.radius(this.robot), color, 2);
    } else if (this.gesture === "box") {
      const corners: Point[] = [a, [b[0], a[1]], b, [a[0], b[1]]];
      pen.area(corners, color, 0.2);
      pen.line(corners, color, 2, [], true);
    } else if (this.gesture === "disc") {
      const radius = Math.hypot(b[0] - a[0], b[1] - a[1]);
      const rim = circle(a, radius);
      pen.area(rim, color, 0.2);
      pen.line(rim, color, 2, [], true);
    } else {
      if (this.gesture !== "brush") pen.line([a, b], color, 2.5);
      const [x, y] = this.gesture === "pose" ? a : b;
      pen.ring(x, y, 6, color, 2);
    }
  }

  /** Draws, dashed, what waits for the next step. */
  private pending(pen: Pen, deed: Deed, isUndo: boolean, color: string): void {
    const { hello } = this.app.model;
    const dash = isUndo ? [2, 4] : [7, 5];
    const outline = outlineOf(deed, hello!.world.doors, this.session.named);
    if (outline) pen.line(outline.points, color, 2.5, dash, outline.closed);
    const robot = hello!.robots.findIndex(({ name }) => name === (deed.place ?? deed.robot ?? deed.repair ?? (deed.to && deed.drive)));
    const pose = this.app.model.poses();
    if (robot < 0 || !pose) return;
    const [x, y] = [pose[3 * robot], pose[3 * robot + 1]];
    const r = this.app.stage.context.radius(robot) + 7;
    pen.ring(x, y, r, color, 2, undefined, dash);
    const to = (deed.pose ?? deed.to) as number[] | undefined;
    if (!to) return;
    const [u, v] = to;
    pen.line([[x, y], [u, v]], color, 2, dash);
    pen.ring(u, v, r, color, 2, undefined, dash);
  }
}

/** The outline in the world of what an event changes [m]; null: it has none. `named`: what made the things that it removes or restores by name. */
export function outlineOf(deed: Deed, doors: DoorInfo[], named: ReadonlyMap<string, Deed>): { points: Point[]; closed: boolean } | null {
  const made = [deed.remove, deed.restore].map((name) => named.get(name as string)).find(Boolean);
  if (made) return outlineOf(made, doors, new Map());
  const box = ([x0, y0, x1, y1]: number[]) => ({ points: [[x0, y0], [x1, y0], [x1, y1], [x0, y1]] as Point[], closed: true });
  const door = doors.find(({ name }) => name === deed.door);
  if (door) return box([door.x0_m, door.y0_m, door.x1_m, door.y1_m]);
  const shape = Object.values(deed).find((one) => one && typeof one === "object" && !Array.isArray(one)) as Deed | undefined;
  if (!shape) return null;
  if (shape.from && shape.to) return { points: [shape.from as Point, shape.to as Point], closed: false };
  if (shape.path_m) return { points: shape.path_m as Point[], closed: false };
  if (shape.polygon_m) return { points: shape.polygon_m as Point[], closed: true };
  if (shape.box_m) return box(shape.box_m as number[]);
  if (shape.centre_m) return { points: circle(shape.centre_m as [number, number], shape.radius_m as number), closed: true };
  if (shape.objective_m) return { points: circle(shape.objective_m as [number, number], 0.5), closed: true };
  return null;
}

/** Whether a place lies within an outline, or not farther from it than `reach` [m]. */
export function touches({ points, closed }: { points: Point[]; closed: boolean }, x: number, y: number, reach: number): boolean {
  let inside = false;
  for (let k = closed ? 0 : 1; k < points.length; k++) {
    const [[x0, y0], [x1, y1]] = [points.at(k - 1)!, points[k]];
    const length2 = (x1 - x0) ** 2 + (y1 - y0) ** 2;
    const t = length2 ? Math.min(Math.max(((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / length2, 0), 1) : 0;
    if (Math.hypot(x0 + t * (x1 - x0) - x, y0 + t * (y1 - y0) - y) <= reach) return true;
    if (closed && y0 > y !== y1 > y && x < x0 + ((y - y0) / (y1 - y0)) * (x1 - x0)) inside = !inside;
  }
  return inside;
}
