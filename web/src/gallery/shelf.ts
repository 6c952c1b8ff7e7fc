/** Pages that show no single run: the gallery of scenarios, and the runs of a study. */

import type { App } from "../app";
import type { Header } from "../wire";
import { h, remember } from "../ui/dom";
import { Gallery } from "./gallery";
import { Study } from "./study";

/** One of these pages. */
export interface Page {
  readonly element: HTMLElement;
  take(header: Header): void;
}

export class Shelf {
  private page: Page | null = null;
  private notice = h("p", { class: "shelf-notice", role: "status" });
  private main = h("main", { class: "shelf" }, this.notice);

  constructor(
    private app: App,
    private root: HTMLElement,
  ) {
    // keys of the scene do nothing here
    document.addEventListener("keydown", (event) => this.page && event.stopImmediatePropagation(), true);
  }

  /** Takes in a message, if it is for one of these pages. */
  takes(header: Header): boolean {
    if (header.type === "hello") this.begin(header);
    if (!this.page) return false;
    this.page.take(header);
    return true;
  }

  say(text: string): void {
    this.notice.textContent = text;
  }

  private begin(header: Header): void {
    this.page?.element.remove();
    this.page = header.mode === "gallery" ? new Gallery(this.app, header) : header.mode === "study" ? new Study(this.app, header) : null;
    this.root.toggleAttribute("data-shelf", this.page !== null);
    if (!this.page) return this.main.remove();
    this.main.append(this.page.element);
    this.root.append(this.main);
    this.app.connection?.send({ type: "watch", layers: [], details: [], robots: [], rate_hz: 10 });
  }
}

/** The head of such a page. */
export function head(app: App, title: string, lead: string): HTMLElement {
  const button = h("button", {
    type: "button",
    onclick: () => {
      app.setTheme(app.theme === "dark" ? "light" : "dark");
      remember("theme", app.theme);
      name();
    },
  });
  const name = () => (button.textContent = app.theme === "dark" ? "Light colours" : "Dark colours");
  name();
  return h("div", { class: "shelf-head" }, h("h1", {}, title), button, h("p", {}, lead));
}

/** Leads from the page of a run back to the gallery or study that opened it. */
export function backTo(root: HTMLElement): void {
  const from = new URLSearchParams(location.hash.slice(1)).get("from");
  if ((from !== "gallery" && from !== "study") || history.length < 2) return;
  const button = h("button", { type: "button", onclick: () => history.back() }, from === "gallery" ? "Gallery" : "Study");
  root.querySelector("header")!.prepend(button);
}

/** The address of a run's page, which leads back. */
export function opened(url: string, from: "gallery" | "study"): string {
  return `${url}&from=${from}`;
}
