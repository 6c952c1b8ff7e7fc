/** Lines, marks and words over the scene: a transparent canvas, drawn in pixels at places of the world. */

import type { Hides } from "./hiding";
import type { View } from "./view";

/** Opacity of what something hides, and length of the pieces of lines [pixel] of which each is hidden or not. */
const FAINT = 0.22;
const PIECE = 8;
/** Number of pieces in a picture after which a line is hidden or not from point to point. */
const MOST = 20_000;

export type Point = readonly [x: number, y: number];

/** Draws at places of the world [m]; widths and sizes are pixels. */
export class Pen {
  readonly g: CanvasRenderingContext2D;
  /** Altitude of the ground [m] at a place. */
  altitude: (x: number, y: number) => number = () => 0;
  /** Whether something hides a place; null: nothing does. */
  hides: Hides | null = null;
  private taken = new Set<string>();
  private pieces = 0;

  constructor(
    readonly view: View,
    readonly canvas: HTMLCanvasElement,
  ) {
    this.g = canvas.getContext("2d")!;
  }

  /** Begins a new picture. */
  begin(): void {
    const { clientWidth: width, clientHeight: height } = this.view.canvas;
    const ratio = this.view.renderer.getPixelRatio();
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== w || this.canvas.height !== h) Object.assign(this.canvas, { width: w, height: h });
    this.g.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.g.clearRect(0, 0, width, height);
    this.g.lineCap = this.g.lineJoin = "round";
    this.taken.clear();
    this.pieces = 0;
    this.view.ready();
  }

  /** The place on the canvas [pixel]. */
  at(x: number, y: number, above = 0): [number, number] {
    return this.view.project(x, y, this.altitude(x, y) + above);
  }

  line(points: readonly Point[], color: string, width = 1.5, dash: number[] = [], closed = false): void {
    if (points.length < 2) return;
    const g = this.g;
    g.setLineDash(dash);
    g.lineWidth = width;
    g.strokeStyle = color;
    if (this.hides) this.partly(closed ? [...points, points[0]] : points);
    else {
      g.beginPath();
      points.forEach(([x, y], k) => (k ? g.lineTo(...this.at(x, y)) : g.moveTo(...this.at(x, y))));
      if (closed) g.closePath();
      g.stroke();
    }
    g.setLineDash([]);
  }

  /** Strokes a line; pieces that something hides are faint. */
  private partly(points: readonly Point[]): void {
    const g = this.g;
    const runs: [hidden: boolean, places: [number, number][]][] = [];
    for (let k = 1; k < points.length; k++) {
      const [[x0, y0], [x1, y1]] = [points[k - 1], points[k]];
      const [[u0, v0], [u1, v1]] = [this.at(x0, y0), this.at(x1, y1)];
      const count = this.pieces > MOST ? 1 : Math.min(Math.max(Math.ceil(Math.hypot(u1 - u0, v1 - v0) / PIECE), 1), 400);
      this.pieces += count;
      for (let j = 0; j < count; j++) {
        const on = (t: number): Point => [x0 + (t / count) * (x1 - x0), y0 + (t / count) * (y1 - y0)];
        const hidden = this.hidden(...on(j + 0.5));
        if (runs.at(-1)?.[0] !== hidden) runs.push([hidden, [this.at(...on(j))]]);
        runs.at(-1)![1].push(this.at(...on(j + 1)));
      }
    }
    for (const [hidden, places] of runs)
      this.faintly(hidden, () => {
        g.beginPath();
        places.forEach(([u, v], k) => (k ? g.lineTo(u, v) : g.moveTo(u, v)));
        g.stroke();
      });
  }

  private hidden(x: number, y: number): boolean {
    return this.hides?.(x, y, this.altitude(x, y) + 0.1) ?? false;
  }

  /** Draws something that may be hidden. */
  private faintly(hidden: boolean, draw: () => void): void {
    const opacity = this.g.globalAlpha;
    if (hidden) this.g.globalAlpha = FAINT * opacity;
    draw();
    this.g.globalAlpha = opacity;
  }

  /** Fills an area; `alpha` is its opacity. */
  area(points: readonly Point[], color: string, alpha: number): void {
    const g = this.g;
    g.beginPath();
    points.forEach(([x, y], k) => (k ? g.lineTo(...this.at(x, y)) : g.moveTo(...this.at(x, y))));
    g.closePath();
    g.globalAlpha = alpha;
    g.fillStyle = color;
    g.fill();
    g.globalAlpha = 1;
  }

  /** Wipes away a disc of a radius [m]. */
  wipe(x: number, y: number, radius: number, above = 0): void {
    const g = this.g;
    const corners = Array.from({ length: 24 }, (_, k) => (2 * Math.PI * k) / 24);
    g.globalCompositeOperation = "destination-out";
    g.beginPath();
    corners.forEach((angle, k) => g[k ? "lineTo" : "moveTo"](...this.at(x + radius * Math.cos(angle), y + radius * Math.sin(angle), above)));
    g.closePath();
    g.fillStyle = "#000";
    g.fill();
    g.globalCompositeOperation = "source-over";
  }

  /** A circle of a radius [pixel]. */
  ring(x: number, y: number, radius: number, color: string, width = 2, fill?: string, dash: number[] = []): void {
    this.faintly(this.hidden(x, y), () => this.circle(x, y, radius, color, width, fill, dash));
  }

  private circle(x: number, y: number, radius: number, color: string, width: number, fill: string | undefined, dash: number[]): void {
    const g = this.g;
    g.beginPath();
    g.arc(...this.at(x, y), Math.max(radius, 0.5), 0, 2 * Math.PI);
    if (fill) {
      g.fillStyle = fill;
      g.fill();
    }
    if (!width) return;
    g.setLineDash(dash);
    g.lineWidth = width;
    g.strokeStyle = color;
    g.stroke();
    g.setLineDash([]);
  }

  /** Strokes and fills a shape of points [pixel] around a place; the first is where the pen begins. */
  shape(x: number, y: number, points: readonly Point[], color: string, fill?: string, width = 2, closed = true): void {
    const g = this.g;
    const [px, py] = this.at(x, y);
    g.beginPath();
    points.forEach(([dx, dy], k) => (k ? g.lineTo(px + dx, py - dy) : g.moveTo(px + dx, py - dy)));
    if (closed) g.closePath();
    g.lineWidth = width;
    g.strokeStyle = color;
    this.faintly(this.hidden(x, y), () => {
      if (fill) {
        g.fillStyle = fill;
        g.fill();
      }
      g.stroke();
    });
  }

  /** Words with an edge, `dx`, `dy` pixels from a place; unless they must be there, they give way to earlier ones: false. */
  text(text: string, x: number, y: number, color: string, edge: string, dx = 0, dy = 0, must = true, size = 12): boolean {
    const g = this.g;
    const [px, py] = this.at(x, y);
    const [left, top] = [px + dx, py - dy];
    if (left < -200 || top < -20 || left > this.view.canvas.clientWidth || top > this.view.canvas.clientHeight + 20) return true;
    g.font = `600 ${size}px system-ui, sans-serif`;
    const [first, last] = [Math.floor(left / 12), Math.floor((left + g.measureText(text).width) / 12)];
    const [low, high] = [Math.floor((top - size / 2) / 12), Math.floor((top + size / 2 - 1) / 12)];
    const boxes: string[] = [];
    for (let column = first; column <= last; column++)
      for (let row = low; row <= high; row++) boxes.push(`${column} ${row}`);
    if (!must && boxes.some((box) => this.taken.has(box))) return false;
    boxes.forEach((box) => this.taken.add(box));
    g.textBaseline = "middle";
    g.lineWidth = 3;
    g.strokeStyle = edge;
    g.fillStyle = color;
    this.faintly(this.hidden(x, y), () => {
      g.strokeText(text, left, top);
      g.fillText(text, left, top);
    });
    return true;
  }
}
