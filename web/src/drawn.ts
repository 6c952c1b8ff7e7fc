/** What sensors and add-ons draw in the world: their marks, and a layer for each. The other side is covey/viewer/drawn.py. */

import type { Context, LayerInfo } from "./layers";
import type { Drawn, Hello } from "./messages";
import type { Pen, Point } from "./scene/overlay";
import type { Arrays, Numbers } from "./wire";

export interface Part {
  rows: number;
  columns: number;
  data: Numbers;
}

export interface Mark {
  kind: "points" | "lines" | "polygons" | "arrows" | "field" | "text";
  color: string;
  /** Of lines, or diameter of points, or height of letters [points]. */
  width: number;
  fill: number;
  /** Of a field: 256 colours, each rrggbb. */
  palette: string;
  text: string;
  parts: Part[];
}

/** Marks as the server packs them. */
export interface Packed {
  looks: [kind: Mark["kind"], color: string, width: number, fill: number, palette: string][];
  texts: string[];
}

/** Unpacks marks; the names of their arrays begin with `prefix`. */
export function unpackMarks({ looks, texts }: Packed, arrays: Arrays, prefix = ""): Mark[] {
  const [mark, shape, number] = ["mark", "shape", "number"].map((name) => arrays.get(`${prefix}${name}`)!.data);
  const marks: Mark[] = [];
  for (let k = 0, part = 0, at = 0; 3 * k < mark.length; k++) {
    const [kind, color, width, fill, palette] = looks[mark[3 * k]];
    const parts = Array.from({ length: mark[3 * k + 2] }, (): Part => {
      const [rows, columns] = [shape[2 * part], shape[2 * part + 1]];
      part++;
      at += rows * columns;
      return { rows, columns, data: number.subarray(at - rows * columns, at) };
    });
    marks.push({ kind, color, width, fill, palette, text: texts[mark[3 * k + 1]], parts });
  }
  return marks;
}

/** The marks of a layer that are to be seen now. */
export function marksOf({ model, hello }: Pick<Context, "model" | "hello">, name: string): Mark[] {
  return hello.mode === "live" && model.shown !== null ? [] : (model.drawn.get(name) ?? []);
}

const known = new WeakMap<Hello, LayerInfo[]>();

/** The layers of what sensors and add-ons draw in a run. */
export function drawnLayers(hello: Hello): LayerInfo[] {
  if (!known.has(hello)) known.set(hello, (hello.drawn ?? []).map(drawnLayer));
  return known.get(hello)!;
}

function drawnLayer(name: Drawn): LayerInfo {
  const sensor = name.startsWith("sensor:");
  return {
    name,
    group: sensor ? "Sensors" : "Add-ons",
    title: name.slice(name.indexOf(":") + 1),
    about: sensor ? "The newest reading of this sensor, at each robot." : "What this add-on draws.",
    below: true,
    on: () => true,
    details: [name],
    draw: (pen, context) => {
      for (const mark of marksOf(context, name)) draw(pen, mark, context.colors.paper);
    },
  };
}

/** Length of a point [pixel], so that all looks about as in the pictures of `out.plot`. */
const PT = 2;

function draw(pen: Pen, { kind, color, width, fill, text, parts }: Mark, paper: string): void {
  if (kind === "points") for (const [x, y] of places(parts[0])) if (finite(x, y)) pen.ring(x, y, (width * PT) / 2, color, 0, color);
  if (kind === "lines") for (const part of parts) for (const line of unbroken(places(part))) pen.line(line, color, width * PT);
  if (kind === "polygons")
    for (const part of parts) {
      const corners = places(part).filter(([x, y]) => finite(x, y));
      if (fill) pen.area(corners, color, fill);
      if (width) pen.line(corners, color, width * PT, [], true);
    }
  if (kind === "arrows") {
    const ways = places(parts[1]);
    places(parts[0]).forEach(([x, y], k) => arrow(pen, x, y, ...ways[k], color, width * PT));
  }
  if (kind === "text") {
    const [x, y] = parts[0].data;
    const size = width * PT;
    if (!finite(x, y) || !text) return;
    pen.g.font = `600 ${size}px system-ui, sans-serif`;
    pen.text(text, x, y, color, paper, -pen.g.measureText(text).width / 2, 0, true, size);
  }
}

function arrow(pen: Pen, x: number, y: number, u: number, v: number, color: string, width: number): void {
  if (!finite(x, y, u, v) || (u === 0 && v === 0)) return;
  const [[x0, y0], [x1, y1]] = [pen.at(x, y), pen.at(x + u, y + v)];
  const [length, angle] = [Math.hypot(x1 - x0, y1 - y0), Math.atan2(y0 - y1, x1 - x0)];
  const head = Math.min(4 + 2 * width, length / 2);
  const barb = (turn: number): Point => [-head * Math.cos(angle + turn), -head * Math.sin(angle + turn)];
  pen.line([[x, y], [x + u, y + v]], color, width);
  pen.shape(x + u, y + v, [[0, 0], barb(0.45), barb(-0.45)], color, color, width / 2);
}

function places({ rows, data }: Part): Point[] {
  return Array.from({ length: rows }, (_, k): Point => [data[2 * k], data[2 * k + 1]]);
}

/** The pieces of a line between places that are not finite. */
function unbroken(line: Point[]): Point[][] {
  const pieces: Point[][] = [[]];
  for (const place of line)
    if (finite(...place)) pieces.at(-1)!.push(place);
    else pieces.push([]);
  return pieces;
}

function finite(...values: number[]): boolean {
  return values.every(Number.isFinite);
}
