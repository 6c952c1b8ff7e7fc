/** Keys of the page, and the dialog that lists them. */

import { h, iconButton } from "./dom";

interface Key {
  group: string;
  key: string;
  shown: string;
  does: string;
  run: ((event: KeyboardEvent) => void) | null;
}

export class Keys {
  private all: Key[] = [];
  private withControl = new Map<string, () => void>();
  private closers: { rank: number; close: () => boolean }[] = [];
  private dialog = h("dialog", { "aria-labelledby": "keys-title", class: "keys" });

  constructor() {
    document.body.append(this.dialog);
    this.dialog.addEventListener("click", (event) => event.target === this.dialog && this.dialog.close());
    this.add("Page", "Escape", "Esc", "Close what is on top: a menu, driving, drawing, a column over the scene, a tool, then the selection", () => this.escape());
    this.add("Page", "?", "?", "Show these keys", () => this.help());
    let byMouse: Element | null = null; // the menu that the mouse has opened: once something is chosen, keys are the page's again
    document.addEventListener("pointerdown", ({ target }) => (byMouse = (target as Element).closest("select")));
    document.addEventListener("keydown", () => (byMouse = null), { capture: true });
    document.addEventListener("change", ({ target }) => target === byMouse && (target as HTMLElement).blur());
    document.addEventListener("keydown", (event) => {
      if (event.defaultPrevented || event.altKey || this.dialog.open) return;
      const target = event.target as HTMLElement;
      const withControl = event.ctrlKey || event.metaKey;
      if (target.closest("input:not([type=checkbox],[type=range],[type=radio]), textarea, [contenteditable], dialog")) return;
      if (!withControl && target.closest("select")) return; // letters choose in it
      if (withControl) {
        const run = this.withControl.get(event.key.length > 1 ? event.key : event.shiftKey ? event.key.toUpperCase() : event.key.toLowerCase());
        if (run) event.preventDefault();
        return run?.();
      }
      if (event.key === " " && target.closest("button, summary, input:not([type=range]), [role=option]")) return; // the space bar presses it
      const found = this.all.find((one) => one.run && one.key === event.key);
      if (!found) return;
      if (found.key !== "Escape") event.preventDefault(); // the browser closes menus by it
      found.run!(event);
    });
  }

  /** Adds a key; without `run` it is only listed, because what has the focus listens itself. */
  add(group: string, key: string, shown: string, does: string, run: Key["run"] = null): void {
    this.all.push({ group, key, shown, does, run });
  }

  /** Adds what Esc closes: one thing at a time, that with the highest rank first; `close` tells whether there was something. */
  onEscape(rank: number, close: () => boolean): void {
    this.closers.push({ rank, close });
    this.closers.sort((a, b) => b.rank - a.rank);
  }

  /** Closes what is on top. */
  escape(): void {
    if (document.querySelector(":popover-open")) return; // the browser closes it
    this.closers.some(({ close }) => close());
  }

  /** Adds a key that is pressed with Ctrl, or Command; a capital letter with Shift, too. It is not listed. */
  addControl(key: string, run: () => void): void {
    this.withControl.set(key, run);
  }

  button(): HTMLButtonElement {
    return iconButton("help", "Keys", () => this.help(), "?");
  }

  help(): void {
    const groups = [...new Set(this.all.map((one) => one.group))];
    const close = h("button", { type: "button", onclick: () => this.dialog.close() }, "Close");
    this.dialog.replaceChildren(
      h("h2", { id: "keys-title" }, "Keys"),
      h(
        "div",
        { class: "key-groups" },
        ...groups.map((group) =>
          h(
            "section",
            {},
            h("h3", {}, group),
            h("dl", {}, ...this.all.filter((one) => one.group === group).flatMap((one) => [h("dt", {}, h("kbd", {}, one.shown)), h("dd", {}, one.does)])),
          ),
        ),
      ),
      close,
    );
    this.dialog.showModal();
    close.focus({ preventScroll: true });
    this.dialog.scrollTop = 0;
  }
}
