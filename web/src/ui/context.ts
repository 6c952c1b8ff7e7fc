/** The menu of what lies under the pointer: what can be done with a robot, and with a place. */

import type { App } from "../app";
import { h } from "./dom";

/** An entry: its words, and what it does. */
export type Entry = [words: string, run: () => void];

export class ContextMenu {
  /** Called for more entries: of a place [m] and the robot there; -1: there is none. */
  readonly more: ((x: number, y: number, robot: number) => Entry[])[] = [];
  private box = h("div", { class: "menu context", popover: "auto", role: "menu", "aria-label": "What can be done here" });

  constructor(private app: App) {
    app.stage.element.append(this.box);
    this.box.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const all = [...this.box.querySelectorAll("button")];
      all[(all.indexOf(document.activeElement as HTMLButtonElement) + step + all.length) % all.length].focus();
    });
  }

  /** Opens it at a place of the canvas [pixel], which is a place of the world [m]. */
  open(u: number, v: number, x: number, y: number, robot: number): void {
    const { model } = this.app;
    const name = model.hello?.robots[robot]?.name;
    const place = `${x.toFixed(2)}, ${y.toFixed(2)}`;
    const of: Entry[] = name ? [[`Select ${name}`, () => model.select([robot])], [`Follow ${name}`, () => this.app.follow(robot)]] : [];
    const all = [...of, ...this.more.flatMap((more) => more(x, y, robot)), [`Copy ${place}`, () => void copied(this.app, place)] as Entry];
    this.box.replaceChildren(
      ...all.map(([words, run]) => h("button", { type: "button", role: "menuitem", onclick: () => (this.box.hidePopover(), run()) }, words)),
    );
    const { left, top } = this.app.view.canvas.getBoundingClientRect();
    this.box.showPopover();
    const { offsetWidth: width, offsetHeight: height } = this.box;
    this.box.style.left = `${Math.min(left + u, innerWidth - width - 4)}px`;
    this.box.style.top = `${Math.min(top + v, innerHeight - height - 4)}px`;
    this.box.querySelector("button")?.focus();
  }
}

async function copied(app: App, text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    app.say(`Copied ${text}`);
  } catch {
    app.say(text); // to be read off
  }
  setTimeout(() => app.shell.notice.textContent?.endsWith(text) && app.say(""), 3000);
}
