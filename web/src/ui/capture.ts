/** Pictures of the scene, as pixels or as lines, and a film of what it shows. */

import type { App } from "../app";
import type { Pen } from "../scene/overlay";
import { SvgContext } from "../scene/svg";
import { robotColor, THEMES } from "../theme";
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

function trails({ model, stage }: App, pen: Pen): void {
  const n = model.hello!.robots.length;
  const [step, span] = [model.step(), stage.trail_s / model.hello!.step_s];
  const shown = model.history.flatMap((one) => (one.pose && one.step >= step - span && one.step <= step ? [one.pose] : []));
  for (let i = 0; i < n && shown.length > 1; i++)
    pen.line(shown.map((pose) => [pose[3 * i], pose[3 * i + 1]] as const), robotColor(i, n), 1.5);
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

function save(app: App, blob: Blob, ending: string): void {
  const at_s = (app.model.step() * (app.model.hello?.step_s ?? 0)).toFixed(1);
  const link = h("a", { href: URL.createObjectURL(blob), download: `${app.model.hello?.name || "covey"}-${at_s}s.${ending}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
