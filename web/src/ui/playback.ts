/** Play, pause, step, speed, end. */

import type { App } from "../app";
import { h } from "./dom";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 1000];

export function playback(app: App): HTMLElement {
  const ask = (message: Parameters<NonNullable<App["connection"]>["ask"]>[0]) =>
    app.connection?.ask(message).catch((error: Error) => app.say(error.message));
  const toggle = h("button", { type: "button", onclick: () => ask({ type: app.model.frame?.playing ? "pause" : "play" }) }, "Pause");
  const step = h("button", { type: "button", onclick: () => ask({ type: "step", count: 1 }) }, "Step");
  const end = h("button", { type: "button", onclick: () => ask({ type: "end" }) }, "End run");
  const speed = h(
    "select",
    { "aria-label": "Speed", onchange: () => ask({ type: "speed", factor: speed.value === "max" ? null : Number(speed.value) }) },
    ...SPEEDS.map((factor) => h("option", { value: factor }, `${factor} ×`)),
    h("option", { value: "max" }, "as fast as possible"),
  );
  const time = h("output", { "aria-label": "Simulated time", class: "time" }, "0.0 s");
  app.model.onChange(() => {
    const { frame, hello } = app.model;
    if (!frame || !hello) return;
    toggle.textContent = frame.playing ? "Pause" : "Play";
    time.textContent = `${(app.model.step() * hello.step_s).toFixed(1)} s`;
    speed.value = frame.factor === null ? "max" : String(frame.factor);
    const locked = !hello.edits || frame.status !== null;
    for (const one of [toggle, step, end, speed]) one.disabled = locked;
  });
  return h("div", { class: "playback", role: "group", "aria-label": "Playback" }, toggle, step, speed, end, time);
}
