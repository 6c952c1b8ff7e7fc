/** Driving a robot by hand: keys or a gamepad. The server lets it go 0.5 s after the last message. */

import type { App } from "../app";
import { h } from "../ui/dom";

const KEYS: Record<string, [number, number]> = {
  w: [1, 0],
  s: [-1, 0],
  a: [0, 1],
  d: [0, -1],
  ArrowUp: [1, 0],
  ArrowDown: [-1, 0],
  ArrowLeft: [0, 1],
  ArrowRight: [0, -1],
};
const EVERY_MS = 100;
const DEAD = 0.15;

export function driving(app: App, say: (text: string) => void): { element: HTMLElement; update: () => void } {
  const robot = h("select", { "aria-label": "Robot to drive" });
  const speed = h("input", { type: "number", value: 0.5, step: "any", min: 0, "aria-label": "Speed [m/s]" });
  const turn = h("input", { type: "number", value: 1, step: "any", min: 0, "aria-label": "Turn rate [rad/s]" });
  const toggle = h("button", { type: "button", "aria-pressed": "false", onclick: () => set(!on()) }, "Drive");
  const held = new Set<string>();
  let timer = 0;
  let told = false;
  const on = () => toggle.getAttribute("aria-pressed") === "true";
  const set = (yes: boolean) => {
    toggle.setAttribute("aria-pressed", String(yes));
    held.clear();
    clearInterval(timer);
    if (yes) timer = window.setInterval(tick, EVERY_MS);
    else if (told) app.connection?.send({ type: "drive", robot: robot.value, twist: null });
    told = false;
  };
  const wanted = (): [number, number] | null => {
    let [v, w] = [0, 0];
    for (const key of held) [v, w] = [v + KEYS[key][0], w + KEYS[key][1]];
    if (held.size) return [v, w];
    const pad = navigator.getGamepads().find((one) => one?.connected);
    const [left, up] = [pad?.axes[0] ?? 0, pad?.axes[1] ?? 0];
    return Math.hypot(left, up) > DEAD ? [-up, -left] : null;
  };
  const tick = () => {
    const stick = wanted();
    if (!stick && !told) return;
    const clamp = (value: number) => Math.min(Math.max(value, -1), 1);
    const twist: [number, number] = stick ? [clamp(stick[0]) * Number(speed.value), clamp(stick[1]) * Number(turn.value)] : [0, 0];
    told = stick !== null; // it stands once, then the server lets it go
    app.connection
      ?.ask({ type: "drive", robot: robot.value, twist })
      .catch((error: Error) => {
        set(false);
        say(error.message);
      });
  };
  const typing = (event: KeyboardEvent) => (event.target as HTMLElement).closest("input, select, textarea");
  window.addEventListener(
    "keydown",
    (event) => {
      if (!on()) return;
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
      if (!(key in KEYS) || typing(event) || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopPropagation();
      if (held.has(key)) return;
      held.add(key);
      tick();
    },
    { capture: true },
  );
  window.addEventListener("keyup", (event) => held.delete(event.key.length === 1 ? event.key.toLowerCase() : event.key), { capture: true });
  window.addEventListener("blur", () => held.clear());
  app.keys.onEscape(3, () => on() && (set(false), true));
  app.keys.add("Driving", "", "W A S D", "Drive the robot (while Drive is on); arrow keys too");
  const element = h(
    "div",
    { class: "edit-part", role: "group", "aria-label": "Drive a robot" },
    h("h3", {}, "Drive a robot"),
    h("div", { class: "edit-row" }, robot, toggle),
    h("div", { class: "edit-fields" }, h("label", {}, "m/s", speed), h("label", {}, "rad/s", turn)),
    h("p", { class: "quiet" }, "W A S D, arrow keys or a gamepad. It goes on by itself half a second after the last key."),
  );
  let names = "";
  const update = () => {
    const robots = app.model.hello!.robots.map((one) => one.name);
    if (robots.join() !== names) {
      names = robots.join();
      robot.replaceChildren(...robots.map((name) => h("option", {}, name)));
    }
    const [first] = app.model.selected;
    if (first !== undefined && !on()) robot.value = robots[first];
  };
  return { element, update };
}
