/** Play, pause, step, speed, end. */

import type { App } from "../app";
import type { Model } from "../model";
import { failureOf } from "./events";
import { h, iconButton, setIcon, setText } from "./dom";
import { short, wordsOf } from "./robots";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
/** Number of steps for which a failure is news. */
const RECENT = 50;
const ENDS: Record<string, string> = {
  reached: "goal reached",
  timeout: "ended: time is up",
  exhausted: "ended: nothing left to do",
  stopped: "ended",
  interrupted: "interrupted",
  failed: "failed",
};

/** The main measurement of each mission, and its words. */
const MAIN: Record<string, [name: string, words: string]> = {
  exploration: ["explored_share_union", "explored"],
  coverage: ["covered_share", "covered"],
  patrolling: ["graph_idleness_s", "idleness"],
  formation: ["robots_arrived", "arrived"],
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
  let told = "";
  /** Says for some time that a controller has just failed. */
  const tell = (failed: ReturnType<typeof failureOf>) => {
    const text = failed && app.model.newestStep() - failed.step < RECENT ? `The controller of ${failed.robot} has failed: ${failed.text}` : "";
    if (!text || text === told) return;
    told = text;
    app.say(text);
    setTimeout(() => app.shell.notice.textContent === text && app.say(""), 15_000);
  };
  const main = h("output", { "aria-label": "What the team has achieved", class: "chip main-number" }, "");
  keys.add("Playback", " ", "Space", "Play or pause", () => toggle.click());
  keys.add("Playback", ".", ".", "Step", () => step.click());
  keys.add("Playback", ",", ",", "Step back", () => back.click());
  keys.add("Playback", "]", "]", "Faster", () => shift(1));
  keys.add("Playback", "[", "[", "Slower", () => shift(-1));
  app.model.onChange(() => {
    const { player } = app;
    const { frame, hello, waiting } = app.model;
    const ready = Boolean(player && frame && hello);
    const now = ready ? player! : waiting;
    if (!now) return;
    if (now.playing) setIcon(toggle, "pause", "Pause", "Space");
    else setIcon(toggle, "play", "Play", "Space");
    const factor = now.factor;
    if (factor !== null && ![...speed.options].some((one) => one.value === String(factor))) speed.prepend(h("option", { value: factor }, `${factor} ×`));
    speed.value = factor === null ? "max" : String(factor);
    for (const one of [toggle, step, back, speed, end]) one.disabled = true;
    if (!player || !frame || !hello) return;
    for (const one of [toggle, speed]) one.disabled = player.locked;
    step.disabled = player.locked || (frame.status !== null && app.model.shown === null);
    back.disabled = app.model.step() <= (app.model.history[0]?.step ?? 0);
    end.disabled = !player.ends;
    end.hidden = hello.mode === "replay";
    const over = frame.status !== null && app.model.step() >= app.model.newestStep();
    const going = frame.playing && !frame.step ? "getting ready …" : hello.edits || hello.mode === "replay" ? "" : "only watching";
    const failed = frame.status === "failed" ? failureOf(app.model) : null;
    setText(state, over ? (ENDS[frame.status!] ?? frame.status!) + (failed ? `: ${failed.robot}: ${failed.text}` : "") : going);
    state.title = state.textContent!;
    tell(hello.mode === "live" && app.model.shown === null ? failureOf(app.model) : null);
    setText(main, mainNumber(app.model));
  });
  return h("div", { class: "playback", role: "group", "aria-label": "Playback" }, back, toggle, step, count, speed, end, main, state);
}

/** The number that says how far the mission is, at the time that is shown. */
function mainNumber(model: Model): string {
  const { hello, series, times } = model;
  const [name, words] = MAIN[hello!.mission.kind] ?? [[...series.keys()][0] ?? "", ""];
  const now = model.step() * hello!.step_s + 1e-6;
  let at = times.length - 1;
  while (at >= 0 && times[at] > now) at--;
  const value = series.get(name)?.[at] ?? null;
  if (value === null) return "";
  const said = name.includes("_share") ? `${(100 * value).toFixed(1)} %` : `${short(value)}${name.endsWith("_s") ? " s" : name.endsWith("_m") ? " m" : ""}`;
  return `${words || wordsOf(name)} ${said}`;
}
