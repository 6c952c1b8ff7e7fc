/** Pictures of the scene, as pixels or as lines, and a film of what it shows. */

import type { App } from "../app";
import type { DoorInfo } from "../messages";
import type { Pen } from "../scene/overlay";
import { SvgContext } from "../scene/svg";
import { lineColor, robotColor, THEMES } from "../theme";
import { cellAt } from "./cursor";
import { h, iconButton, setText } from "./dom";

const FILMS = {
  WebM: ["video/webm;codecs=vp9", "video/webm"],
  MP4: ["video/mp4;codecs=avc1", "video/mp4"],
};

export function capture(app: App): HTMLElement {
  const menu = h("div", { class: "menu", id: "capture", popover: "auto", role: "group", "aria-label": "Save what is shown" });
  const item = (text: string, run: () => void) =>
    h("button", { type: "button", onclick: () => (menu.hidePopover(), run()) }, text);
  const films = Object.entries(FILMS).flatMap(([name, kinds]) => {
    const kind = kinds.find((one) => window.MediaRecorder?.isTypeSupported(one));
    return kind ? [filming(app, item, name, kind)] : [];
  });
  menu.append(
    item("Picture (PNG)", () => composed(app, h("canvas")).toBlob((blob) => blob && save(app, blob, "png"), "image/png")),
    item("Drawing (SVG)", () => save(app, new Blob([svg(app)], { type: "image/svg+xml" }), "svg")),
    item("World as a map (YAML and PGM)", () => saveWorld(app)),
    ...films,
    h("p", { class: "quiet" }, films.length ? "GIF, or MP4 of a whole run: " : "This browser makes no films; ", h("code", {}, "covey plot RUN animation film")),
  );
  const button = iconButton("camera", "Save a picture or a film", () => {});
  button.setAttribute("popovertarget", "capture");
  return h("span", {}, button, menu);
}

/** A button that begins a film, and then ends and saves it. */
function filming(app: App, item: (text: string, run: () => void) => HTMLElement, name: string, kind: string): HTMLElement {
  let film: MediaRecorder | null = null;
  const button = item(`Film (${name}): begin`, () => {
    if (film) film.stop();
    else film = begin();
    setText(button, film?.state === "recording" ? `Film (${name}): end and save` : `Film (${name}): begin`);
  });
  const begin = (): MediaRecorder => {
    const canvas = h("canvas");
    const copy = () => composed(app, canvas);
    copy();
    app.view.afterDraw.push(copy);
    const parts: Blob[] = [];
    const recorder = new MediaRecorder(canvas.captureStream(30), { mimeType: kind, videoBitsPerSecond: 6e6 });
    recorder.ondataavailable = ({ data }) => parts.push(data);
    recorder.onstop = () => {
      app.view.afterDraw.splice(app.view.afterDraw.indexOf(copy), 1);
      film = null;
      setText(button, `Film (${name}): begin`);
      app.say("");
      save(app, new Blob(parts, { type: kind }), name.toLowerCase());
    };
    recorder.start(500);
    app.say("Filming what the scene shows …");
    return recorder;
  };
  return button;
}

/** The scene and what is drawn over it, on one canvas. */
function composed(app: App, canvas: HTMLCanvasElement): HTMLCanvasElement {
  const { view, stage } = app;
  const [width, height] = [view.canvas.width & ~1, view.canvas.height & ~1]; // films have even sides
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const g = canvas.getContext("2d")!;
  g.drawImage(view.canvas, 0, 0);
  g.drawImage(stage.pen.canvas, 0, 0);
  return canvas;
}

/** The scene as SVG: cells are an image; trails, robots, lines and words are lines and words. */
function svg(app: App): string {
  const { view, stage, model } = app;
  const { clientWidth: width, clientHeight: height } = view.canvas;
  const things = [stage.robots?.group, stage.trails?.group];
  for (const one of things) if (one) one.visible = false;
  view.renderer.render(view.scene, view.camera);
  const cells = view.canvas.toDataURL("image/png");
  for (const one of things) if (one) one.visible = true;
  view.renderer.render(view.scene, view.camera);
  const g = new SvgContext(width, height);
  g.image(cells, width, height);
  const pen = Object.assign(Object.create(stage.pen) as Pen, { g, taken: new Set<string>() });
  view.ready();
  if (stage.shown.has("trails")) trails(app, pen);
  if (model.hello) robots(app, pen);
  stage.paint(pen);
  return g.text_of(document.title);
}

function trails({ model, stage, theme }: App, pen: Pen): void {
  const n = model.hello!.robots.length;
  const [step, span] = [model.step(), stage.trail_s / model.hello!.step_s];
  const shown = model.history.flatMap((one) => (one.pose && one.step >= step - span && one.step <= step ? [one.pose] : []));
  for (let i = 0; i < n && shown.length > 1; i++)
    pen.line(shown.map((pose) => [pose[3 * i], pose[3 * i + 1]] as const), lineColor(i, n, THEMES[theme]), 1.5);
}

function robots({ model, stage, theme }: App, pen: Pen): void {
  const pose = model.poses();
  const n = model.hello!.robots.length;
  if (!pose) return;
  for (let i = 0; i < n; i++) {
    const [x, y, heading] = pose.subarray(3 * i, 3 * i + 3);
    const r = stage.context.radius(i);
    const at = (angle: number, length: number) => [length * r * Math.cos(heading + angle), length * r * Math.sin(heading + angle)] as const;
    pen.ring(x, y, r, THEMES[theme].ink, 1, robotColor(i, n));
    pen.shape(x, y, [at(0, 0.75), at(2.5, 0.65), at(Math.PI, 0.2), at(-2.5, 0.65)], "#ffffff", "#ffffff", 0.5);
  }
}

/** Grey levels of free cells, walls, unknown and open ones, as ROS' map_server writes them. */
const GREY = [254, 0, 205, 254];

/** Saves the world as it is shown, as Covey and ROS read it; materials of walls are not known here. */
function saveWorld(app: App): void {
  const [truth, world] = [app.model.layers.get("truth"), app.model.hello?.world];
  if (!truth || !world) return app.say("Switch on the layer with the walls first.");
  const { rows, columns, resolution_m, origin } = truth.place;
  const pgm = (value: (cell: number) => number) => {
    const pixels = new Uint8Array(rows * columns);
    for (let row = 0; row < rows; row++) // the first row of an image is the northernmost
      for (let column = 0; column < columns; column++)
        pixels[(rows - 1 - row) * columns + column] = value(truth.cells[row * columns + column]);
    return new Blob([`P5\n${columns} ${rows}\n255\n`, pixels], { type: "image/x-portable-graymap" });
  };
  const isOpen = (door: DoorInfo) => {
    const cell = cellAt(truth, (door.x0_m + door.x1_m) / 2, (door.y0_m + door.y1_m) / 2);
    return !cell || truth.cells[cell[0] * columns + cell[1]] !== 1;
  };
  const name = nameOf(app);
  const edge = truth.cells.includes(3);
  const covey = {
    format: 1,
    name: world.name,
    border: edge ? "open" : "wall",
    wall_height_m: world.wall_height_m,
    ...(edge ? { cells: `${name}.cells.pgm` } : {}),
    ...(world.doors.length ? { doors: world.doors.map((door) => ({ ...door, open: isOpen(door) })) } : {}),
  };
  const [image, mode] = [`${name}.pgm`, "trinary"];
  const file = { image, mode, resolution: resolution_m, origin, negate: 0, occupied_thresh: 0.65, free_thresh: 0.196, covey };
  save(app, pgm((cell) => GREY[cell]), "pgm");
  if (edge) save(app, pgm((cell) => cell), "cells.pgm");
  save(app, new Blob([JSON.stringify(file, null, 1)], { type: "application/yaml" }), "yaml"); // JSON is YAML
}

/** Name of a file, without its ending. */
function nameOf(app: App): string {
  const at_s = (app.model.step() * (app.model.hello?.step_s ?? 0)).toFixed(1);
  return `${app.model.hello?.name || "covey"}-${at_s}s`;
}

function save(app: App, blob: Blob, ending: string): void {
  const link = h("a", { href: URL.createObjectURL(blob), download: `${nameOf(app)}.${ending}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
