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
  private dialog = h("dialog", { "aria-labelledby": "keys-title", class: "keys" });

  constructor() {
    document.body.append(this.dialog);
    this.dialog.addEventListener("click", (event) => event.target === this.dialog && this.dialog.close());
    this.add("Page", "?", "?", "Show these keys", () => this.help());
    document.addEventListener("keydown", (event) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || this.dialog.open) return;
      const target = event.target as HTMLElement;
      if (target.closest("input:not([type=checkbox],[type=range],[type=radio]), select, textarea, [contenteditable], dialog")) return;
      if (event.key === " " && target.closest("button, summary, input, [role=option]")) return; // the space bar presses it
      const found = this.all.find((one) => one.run && one.key === event.key);
      if (!found) return;
      event.preventDefault();
      found.run!(event);
    });
  }

  /** Adds a key; without `run` it is only listed, because what has the focus listens itself. */
  add(group: string, key: string, shown: string, does: string, run: Key["run"] = null): void {
    this.all.push({ group, key, shown, does, run });
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
    close.focus();
  }
}
