/** Play, pause, step, speed, end. */

import type { App } from "../app";
import { h, iconButton, setIcon, setText } from "./dom";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
const ENDS: Record<string, string> = {
  reached: "goal reached",
  timeout: "ended: time is up",
  exhausted: "ended: nothing left to do",
  stopped: "ended",
  interrupted: "interrupted",
  failed: "failed",
};

export function playback(app: App): HTMLElement {
  const { keys } = app;
  const count = h("input", { type: "number", "aria-label": "Steps at once", title: "Steps at once", min: 1, max: 1000000, value: 1, class: "count" });
  const steps = () => Math.min(Math.max(Math.round(Number(count.value)) || 1, 1), 1_000_000);
  const back = iconButton("back", "Step back", () => app.player?.step(-steps()), ",");
  const toggle = iconButton("play", "Play", () => (app.player?.playing ? app.player.pause() : app.player?.play()), "Space");
  toggle.classList.add("primary");
  const step = iconButton("forward", "Step", () => app.player?.step(steps()), ".");
  const end = iconButton("stop", "End run", () => app.player?.end());
  const speed = h(
    "select",
    { "aria-label": "Speed", title: "Simulated seconds per second ([ and ])", onchange: () => app.player?.speed(speed.value === "max" ? null : Number(speed.value)) },
    ...SPEEDS.map((factor) => h("option", { value: factor }, `${factor} ×`)),
    h("option", { value: "max" }, "max"),
  );
  const shift = (by: number) => {
    const factor = app.player?.factor ?? null;
    const index = factor === null ? SPEEDS.length : SPEEDS.findIndex((one) => one >= factor);
    const at = Math.min(Math.max(index + by, 0), SPEEDS.length);
    app.player?.speed(at === SPEEDS.length ? null : SPEEDS[at]);
  };
  const state = h("output", { "aria-label": "State of the run", class: "chip" }, "");
  keys.add("Playback", " ", "Space", "Play or pause", () => toggle.click());
  keys.add("Playback", ".", ".", "Step", () => step.click());
  keys.add("Playback", ",", ",", "Step back", () => back.click());
  keys.add("Playback", "]", "]", "Faster", () => shift(1));
  keys.add("Playback", "[", "[", "Slower", () => shift(-1));
  app.model.onChange(() => {
    const { player } = app;
    const { frame, hello } = app.model;
    if (!player || !frame || !hello) return;
    if (player.playing) setIcon(toggle, "pause", "Pause", "Space");
    else setIcon(toggle, "play", "Play", "Space");
    const factor = player.factor;
    if (factor !== null && ![...speed.options].some((one) => one.value === String(factor))) speed.prepend(h("option", { value: factor }, `${factor} ×`));
    speed.value = factor === null ? "max" : String(factor);
    for (const one of [toggle, speed]) one.disabled = player.locked;
    step.disabled = player.locked || (frame.status !== null && app.model.shown === null);
    back.disabled = app.model.step() <= (app.model.history[0]?.step ?? 0);
    end.disabled = !player.ends;
    end.hidden = hello.mode === "replay";
    setText(state, frame.status === null ? (hello.edits ? "" : "only watching") : (ENDS[frame.status] ?? frame.status));
  });
  return h("div", { class: "playback", role: "group", "aria-label": "Playback" }, back, toggle, step, count, speed, end, state);
}
