/** Play, pause, step, speed, end. */

import type { App } from "../app";
import { failureOf } from "./events";
import { h, iconButton, setIcon, setText } from "./dom";
import { ENDS } from "./ends";
import { achieved, Pace } from "./progress";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
/** Number of steps for which a failure is news. */
const RECENT = 50;
export function playback(app: App): HTMLElement {
  const { keys } = app;
  const count = h("input", { type: "number", "aria-label": "Steps at once", title: "Steps at once", min: 1, max: 1000000, value: 1, class: "count", onkeydown: (event: KeyboardEvent) => event.key === "Enter" && step.click() });
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
  const main = h("output", { "aria-label": "What the team has achieved", "aria-live": "off", class: "chip main-number" }, "");
  const real = h("output", { "aria-label": "Speed of now", "aria-live": "off", class: "chip", title: "Simulated seconds per second, as it is" }, "");
  const pace = new Pace();
  keys.add("Playback", " ", "Space", "Play or pause", () => toggle.click());
  keys.add("Playback", ".", ".", "Step", () => step.click());
  keys.add("Playback", ",", ",", "Step back", () => back.click());
  keys.add("Playback", "]", "]", "Faster", () => shift(1));
  keys.add("Playback", "[", "[", "Slower", () => shift(-1));
  const left = h("output", { "aria-label": "Steps to go", "aria-live": "off", class: "chip" }, "");
  const whose = h("output", { "aria-label": "Whose time play, step and speed are", "aria-live": "off", class: "chip whose" }, "");
  const box = h("div", { class: "playback", role: "group", "aria-label": "Playback" }, back, toggle, step, count, left, speed, real, whose, end, main, state);
  app.model.onChange(() => {
    const { player } = app;
    const { frame, hello, waiting } = app.model;
    const ready = Boolean(player && frame && hello);
    const now = ready ? player! : waiting;
    if (!now) return;
    const past = player?.looksBack ?? false;
    const clock = past ? " the past" : "";
    if (now.playing) setIcon(toggle, "pause", `Pause${clock}`, "Space");
    else setIcon(toggle, "play", `Play${clock}`, "Space");
    setIcon(step, "forward", past ? "Step on in the past" : "Step", ".");
    setIcon(end, "stop", past ? "End the run, which goes on now" : "End run");
    speed.setAttribute("aria-label", `Speed${past ? " of the past" : ""}`);
    speed.title = `Simulated seconds per second${past ? ", of what is played of the past" : ""} ([ and ])`;
    box.classList.toggle("of-past", past);
    const gone = ready && hello!.mode === "live" && !app.connection!.open;
    const runs = frame?.status != null ? "has ended" : gone ? "was seen last" : frame?.playing || frame?.steps ? "goes on" : "waits";
    setText(whose, past ? `the past; the run ${runs} at ${frame!.time_s.toFixed(1)} s` : "");
    setText(left, player?.stepsLeft ? `${player.stepsLeft} to go` : "");
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
    const going = gone ? "no connection" : frame.playing && !frame.step ? "getting ready …" : hello.edits || hello.mode === "replay" ? "" : "only watching";
    const failed = frame.status === "failed" ? failureOf(app.model) : null;
    setText(state, over ? (ENDS[frame.status!] ?? frame.status!) + (failed ? `: ${failed.robot}: ${failed.text}` : "") : going);
    state.title = state.textContent!;
    tell(hello.mode === "live" && app.model.shown === null ? failureOf(app.model) : null);
    setText(main, achieved(app.model, !gone));
    pace.take(performance.now() / 1000, frame.time_s);
    const actual = hello.mode === "live" && !past && runs === "goes on" ? pace.factor : null;
    setText(real, actual === null ? "" : `now ${actual >= 10 ? actual.toFixed(0) : actual.toFixed(1)} ×`);
  });
  return box;
}
