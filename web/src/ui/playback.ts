/** Play, pause, step, speed, end. */

import type { App } from "../app";
import { h } from "./dom";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 1000];

export function playback(app: App): HTMLElement {
  const { model } = app;
  const toggle = h("button", { type: "button", onclick: () => (app.player?.playing ? app.player.pause() : app.player?.play()) }, "Pause");
  const back = h("button", { type: "button", onclick: () => app.player?.step(-1) }, "Step back");
  const step = h("button", { type: "button", onclick: () => app.player?.step(1) }, "Step");
  const end = h("button", { type: "button", onclick: () => app.player?.end() }, "End run");
  const speed = h(
    "select",
    { "aria-label": "Speed", onchange: () => app.player?.speed(speed.value === "max" ? null : Number(speed.value)) },
    ...SPEEDS.map((factor) => h("option", { value: factor }, `${factor} ×`)),
    h("option", { value: "max" }, "as fast as possible"),
  );
  const time = h("output", { "aria-label": "Simulated time", class: "time" }, "0.0 s");
  model.onChange(() => {
    const { player } = app;
    if (!model.hello || !model.frame || !player) return;
    toggle.textContent = player.playing ? "Pause" : "Play";
    time.textContent = `${(model.step() * model.hello.step_s).toFixed(1)} s`;
    speed.value = player.factor === null ? "max" : String(player.factor);
    end.hidden = !player.ends;
    for (const one of [toggle, step, end, speed]) one.disabled = player.locked;
    back.disabled = model.step() <= (model.history[0]?.step ?? 0);
  });
  return h("div", { class: "playback", role: "group", "aria-label": "Playback" }, toggle, back, step, speed, end, time);
}
