/** The form of a scenario: its values, with what the schema says of them; it starts a run. */

import type { App } from "../app";
import { h } from "../ui/dom";
import type { Card } from "./gallery";
import { opened } from "./shelf";

interface Field {
  path: string;
  value: string;
  kind: "integer" | "number" | "flag" | "choice" | "text";
  help: string;
  choices?: string[];
  least?: number;
  most?: number;
  /** Whether other fields depend on its value. */
  again?: boolean;
}

interface Part {
  title: string;
  fields: Field[];
}

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** An answer of the server that tells what is wrong with which field. */
interface Refusal extends Error {
  problems?: { path: string; text: string }[];
}

const SPEEDS = ["0.5", "1", "2", "5", "10", "20", "50", "100"];

/** Opens the form of a scenario. */
export function openForm(app: App, card: Card, picture: string): void {
  app.connection!.ask({ type: "form", name: card.name, changes: {} }).then(
    (answer) => new Form(app, card, picture, answer.parts as Part[]).dialog.showModal(),
    (error: Error) => app.say(error.message),
  );
}

class Form {
  readonly dialog: HTMLDialogElement;
  private controls = new Map<string, Control>();
  private errors = new Map<string, HTMLElement>();
  private said = h("p", { class: "bad", role: "alert" });
  private run = h("button", { type: "submit", class: "primary" }, "Run");
  private wait = h("button", { type: "submit", title: "It waits before its first step, so that you can place and add robots." }, "Begin paused");
  private speed: HTMLSelectElement;
  private rest = h("div");
  private first = h("div", { class: "fields" });
  /** What the fields follow already: changes by path. */
  private taken: Record<string, string> = {};
  private asked = 0;

  constructor(
    private app: App,
    private card: Card,
    picture: string,
    private parts: Part[],
  ) {
    this.speed = h(
      "select",
      { id: "form-speed" },
      ...SPEEDS.map((speed) => h("option", { value: speed, selected: speed === "5" }, `${speed} × real time`)),
      h("option", { value: "max" }, "as fast as possible"),
    );
    const speed = h(
      "div",
      { class: "field" },
      h("label", { for: "form-speed" }, "Speed"),
      this.speed,
      h("p", { class: "help" }, "The page can change it at any time."),
    );
    this.first.append(speed);
    this.fill();
    const form = h(
      "form",
      { novalidate: true, onsubmit: (event: SubmitEvent) => this.submit(event) },
      this.first,
      h("h3", {}, "Everything else"),
      this.rest,
      this.said,
      h("div", { class: "buttons" }, this.run, this.wait, h("button", { type: "button", onclick: () => this.dialog.close() }, "Cancel")),
    );
    this.dialog = h(
      "dialog",
      { class: "form", "aria-labelledby": "form-title" },
      h(
        "div",
        { class: "form-head" },
        picture ? h("img", { src: picture, alt: "" }) : null,
        h("div", {}, h("h2", { id: "form-title" }, card.title), h("p", {}, card.line)),
      ),
      form,
    );
    this.dialog.addEventListener("close", () => this.dialog.remove());
    document.querySelector(".shelf")!.append(this.dialog);
  }

  /** Makes the fields of the parts. */
  private fill(): void {
    const [first, ...rest] = this.parts;
    const open = new Set([...this.rest.querySelectorAll("details")].filter((one) => one.open).map((one) => one.dataset.title));
    this.controls.clear();
    this.errors.clear();
    this.first.replaceChildren(...first.fields.map((field) => this.field(field, true)), this.first.lastElementChild!);
    this.rest.replaceChildren(
      ...rest.map(({ title, fields }) =>
        h("details", { open: open.has(title), "data-title": title }, h("summary", {}, title), h("div", { class: "fields" }, ...fields.map((field) => this.field(field)))),
      ),
    );
  }

  private field(field: Field, first = false): HTMLElement {
    const id = `form-${field.path}`;
    const control = makeControl(field, id);
    const error = h("p", { class: "bad", id: `${id}-error` });
    if (field.again) control.addEventListener("change", () => this.follow(field.path));
    this.controls.set(field.path, control);
    this.errors.set(field.path, error);
    const label = h("label", { for: id }, first ? readable(field.path) : field.path.replace(/^robots\.\w+\./, ""));
    const help = h("p", { class: "help", id: `${id}-help` }, field.help);
    return h("div", { class: "field" }, label, control, help, error);
  }

  /** What has been filled in, by path. */
  private changes(): Record<string, string> {
    const changes = { ...this.taken };
    for (const { fields } of this.parts)
      for (const { path, value } of fields) {
        const given = valueOf(this.controls.get(path)!);
        if (given !== value) changes[path] = given;
      }
    return changes;
  }

  /** Gets the fields that belong to the new value of a field; those of the old one are dropped. */
  private follow(path: string): void {
    const changes = Object.fromEntries(Object.entries(this.changes()).filter(([one]) => !one.startsWith(`${path}.`)));
    const asked = ++this.asked;
    this.tell([]);
    this.app.connection!.ask({ type: "form", name: this.card.name, changes }).then(
      (answer) => {
        if (asked !== this.asked) return;
        this.parts = answer.parts as Part[];
        this.taken = changes;
        this.fill();
        const below = [...this.controls].find(([one]) => one.startsWith(`${path}.`))?.[1].closest("details");
        if (below) below.open = true;
        this.controls.get(path)?.focus();
      },
      (error: Refusal) => this.tell(error.problems ?? [{ path, text: error.message }]),
    );
  }

  private submit(event: SubmitEvent): void {
    event.preventDefault();
    const changes = this.changes();
    this.tell([]);
    this.run.disabled = this.wait.disabled = true;
    const paused = event.submitter === this.wait;
    this.run.textContent = "Starting …";
    this.app.connection!
      .ask({ type: "launch", name: this.card.name, changes, speed: this.speed.value, paused })
      .then((answer) => location.assign(opened(answer.url as string, "gallery")))
      .catch((error: Refusal) => this.tell(error.problems ?? [{ path: "", text: error.message }]))
      .finally(() => {
        this.run.disabled = this.wait.disabled = false;
        this.run.textContent = "Run";
      });
  }

  /** Shows problems at their fields, and the others at the end. */
  private tell(problems: { path: string; text: string }[]): void {
    const rest: string[] = [];
    for (const [path, error] of this.errors) {
      error.textContent = "";
      this.controls.get(path)!.removeAttribute("aria-invalid");
    }
    let first: Control | null = null;
    for (const { path, text } of problems) {
      const error = this.errors.get(path);
      if (!error) rest.push(path ? `${path}: ${text}` : text);
      else {
        error.textContent = text;
        const control = this.controls.get(path)!;
        control.setAttribute("aria-invalid", "true");
        const details = control.closest("details");
        if (details) details.open = true;
        first ??= control;
      }
    }
    first?.focus();
    this.said.textContent = rest.join("\n");
  }
}

function makeControl(field: Field, id: string): Control {
  const attributes = { id, name: field.path, "aria-describedby": `${id}-help ${id}-error` };
  if (field.kind === "flag") return h("input", { ...attributes, type: "checkbox", checked: field.value === "true" });
  if (field.kind === "choice")
    return h(
      "select",
      attributes,
      ...field.choices!.map((choice) => h("option", { value: choice, selected: choice === field.value }, choice || "(none)")),
    );
  if (field.kind === "text" && field.value.length > 40) {
    const area = h("textarea", { ...attributes, rows: Math.min(6, Math.ceil(field.value.length / 60) + 1), spellcheck: "false" });
    area.value = field.value;
    return area;
  }
  const number = field.kind !== "text";
  const limits = number ? { min: field.least, max: field.most, step: field.kind === "integer" ? 1 : "any" } : {};
  const input = h("input", { ...attributes, ...limits, type: number ? "number" : "text", spellcheck: "false", autocomplete: "off" });
  input.value = field.value;
  return input;
}

function valueOf(control: Control): string {
  return control instanceof HTMLInputElement && control.type === "checkbox" ? String(control.checked) : control.value;
}

/** Says in words which of the first fields it is: robots.scout.count is "Number of robots: scout". */
function readable(path: string): string {
  const group = /^robots\.(\w+)\.(\w+)$/.exec(path);
  if (!group) return path === "seed" ? "Seed" : path;
  return group[2] === "count" ? `Number of robots: ${group[1]}` : `Controller: ${group[1]}`;
}
