/** Lines, marks and words over the scene: a transparent canvas, drawn in pixels at places of the world. */

import type { View } from "./view";

export type Point = readonly [x: number, y: number];

/** Draws at places of the world [m]; widths and sizes are pixels. */
export class Pen {
  readonly g: CanvasRenderingContext2D;
  /** Altitude of the ground [m] at a place. */
  altitude: (x: number, y: number) => number = () => 0;
  private taken = new Set<string>();

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
    this.view.ready();
  }

  /** The place on the canvas [pixel]. */
  at(x: number, y: number, above = 0): [number, number] {
    return this.view.project(x, y, this.altitude(x, y) + above);
  }

  line(points: readonly Point[], color: string, width = 1.5, dash: number[] = [], closed = false): void {
    if (points.length < 2) return;
    const g = this.g;
    g.beginPath();
    points.forEach(([x, y], k) => (k ? g.lineTo(...this.at(x, y)) : g.moveTo(...this.at(x, y))));
    if (closed) g.closePath();
    g.setLineDash(dash);
    g.lineWidth = width;
    g.strokeStyle = color;
    g.stroke();
    g.setLineDash([]);
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

  /** A circle of a radius [pixel]. */
  ring(x: number, y: number, radius: number, color: string, width = 2, fill?: string, dash: number[] = []): void {
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
    if (fill) {
      g.fillStyle = fill;
      g.fill();
    }
    g.lineWidth = width;
    g.strokeStyle = color;
    g.stroke();
  }

  /** Words with an edge, `dx`, `dy` pixels from a place; unless they must be there, they give way to earlier ones. */
  text(text: string, x: number, y: number, color: string, edge: string, dx = 0, dy = 0, must = true, size = 12): void {
    const g = this.g;
    const [px, py] = this.at(x, y);
    const [left, top] = [px + dx, py - dy];
    if (left < -200 || top < -20 || left > this.view.canvas.clientWidth || top > this.view.canvas.clientHeight + 20) return;
    g.font = `600 ${size}px system-ui, sans-serif`;
    const [first, last] = [Math.floor(left / 12), Math.floor((left + g.measureText(text).width) / 12)];
    const [low, high] = [Math.floor((top - size / 2) / 12), Math.floor((top + size / 2 - 1) / 12)];
    const boxes: string[] = [];
    for (let column = first; column <= last; column++)
      for (let row = low; row <= high; row++) boxes.push(`${column} ${row}`);
    if (!must && boxes.some((box) => this.taken.has(box))) return;
    boxes.forEach((box) => this.taken.add(box));
    g.textBaseline = "middle";
    g.lineWidth = 3;
    g.strokeStyle = edge;
    g.strokeText(text, left, top);
    g.fillStyle = color;
    g.fillText(text, left, top);
  }
}
