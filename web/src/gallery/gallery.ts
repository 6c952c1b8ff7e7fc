/** The gallery: a card for each scenario, and the runs that were started from it. */

import type { App } from "../app";
import type { Header } from "../wire";
import { h } from "../ui/dom";
import { openForm } from "./form";
import { head, opened, type Page } from "./shelf";

export interface Card {
  name: string;
  title: string;
  line: string;
  file?: boolean;
}

interface Run {
  run: string;
  name: string;
  state: string;
  running: boolean;
  url: string;
  folder: string;
}

export class Gallery implements Page {
  readonly element: HTMLElement;
  private pictures = new Map<string, HTMLImageElement>();
  private problems = new Map<string, HTMLElement>();
  private runs = h("section", { "aria-labelledby": "shelf-runs", hidden: true });
  private edits: boolean;

  constructor(
    private app: App,
    hello: Header,
  ) {
    this.edits = Boolean(hello.edits);
    const cards = hello.cards as Card[];
    const files = cards.filter((card) => card.file);
    document.title = "Covey";
    const lead = this.edits
      ? "Teams of mobile robots, simulated. Click a scenario, change what you like, and run it."
      : "Teams of mobile robots, simulated. This address only lets you watch runs that others start.";
    this.element = h(
      "div",
      { class: "gallery" },
      head(app, "Covey", lead),
      this.runs,
      files.length ? this.section("shelf-files", `In the folder ${hello.folder}`, files) : null,
      this.section("shelf-shipped", "Scenarios", cards.filter((card) => !card.file)),
    );
  }

  take(header: Header): void {
    if (header.type === "picture") {
      const picture = this.pictures.get(header.name as string);
      if (picture && header.png) picture.src = `data:image/png;base64,${header.png}`;
      const problem = this.problems.get(header.name as string);
      if (problem) problem.textContent = (header.problem as string | undefined) ?? "";
    } else if (header.type === "runs") this.list(header.runs as Run[]);
  }

  private section(id: string, title: string, cards: Card[]): HTMLElement {
    const list = h("ul", { class: "cards", role: "list" }, ...cards.map((card) => this.card(card)));
    return h("section", { "aria-labelledby": id }, h("h2", { id }, title), list);
  }

  private card(card: Card): HTMLElement {
    const picture = h("img", { alt: "" });
    const problem = h("p", { class: "bad", role: "status" });
    this.pictures.set(card.name, picture);
    this.problems.set(card.name, problem);
    const title = this.edits
      ? h("button", { type: "button", onclick: () => openForm(this.app, card, picture.src) }, card.title)
      : card.title;
    return h(
      "li",
      { class: "card" },
      h("div", { class: "picture" }, picture, problem),
      h("h3", {}, title),
      h("p", {}, card.line),
      card.file ? h("p", { class: "file" }, card.name) : null,
    );
  }

  private list(runs: Run[]): void {
    this.runs.hidden = runs.length === 0;
    this.runs.replaceChildren(
      h("h2", { id: "shelf-runs" }, "Runs of this gallery"),
      h("ul", { class: "runs", role: "list" }, ...runs.map((run) => this.line(run))),
    );
  }

  private line(run: Run): HTMLElement {
    const label = `${run.name}, run ${run.run}`;
    const ask = (type: "open" | "quit") => () =>
      this.app.connection!.ask({ type, run: run.run }).then(
        (answer) => type === "open" && location.assign(opened(answer.url as string, "gallery")),
        (error: Error) => this.app.say(error.message),
      );
    const watch = run.url ? h("a", { href: opened(run.url, "gallery"), "aria-label": `Watch ${label}` }, "Watch") : null;
    const end = run.running && this.edits ? h("button", { type: "button", onclick: ask("quit"), "aria-label": `End ${label}` }, "End") : null;
    const again =
      !run.running && run.folder && this.edits
        ? h("button", { type: "button", onclick: ask("open"), "aria-label": `Look again at ${label}` }, "Look again")
        : null;
    const state = h("span", { class: "state", "data-running": run.running }, run.state);
    return h("li", {}, h("strong", {}, run.name), state, h("code", {}, run.folder), watch, again, end);
  }
}
