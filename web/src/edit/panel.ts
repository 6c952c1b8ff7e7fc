/** The Edit panel: doors, tools, driving, what was done, and its text as a scenario. */

import type { App } from "../app";
import type { DoorInfo } from "../messages";
import { h, setText } from "../ui/dom";
import { Drawing, type Drawn } from "./drawing";
import { driving } from "./driving";
import { scenarioText, Session, words, type Deed } from "./session";
import { TOOLS, type Field, type Tool, type Values } from "./tools";

type Pose = [number, number, number] | null;

const NEXT = "It happens in the next step.";
const ANEW = "The run begins anew …";
const NARROW = matchMedia("(max-width: 800px)");

export function editPanel(app: App): void {
  const place = app.shell.edit;
  const said = h("p", { role: "status", class: "edit-said", "aria-live": "polite", "aria-label": "Answer" });
  const say = (text: string, bad = false) => {
    setText(said, text);
    said.classList.toggle("bad", bad);
  };
  const act = ({ add, ...deed }: Deed) =>
    app
      .connection!.ask(add === undefined ? { type: "do", event: deed } : { type: "add", group: add as string, pose: deed.pose as Pose })
      .then(() => say(add !== undefined ? ANEW : app.model.frame?.playing ? "Done." : NEXT))
      .catch((error: Error) => say(error.message, true));
  const drive = driving(app, (text) => say(text, true));
  const session = new Session();
  const doors = doorList(app, session, act);
  const tool = toolForm(app, session, act, doors.at);
  const done = doneList(app, session, act);
  const all = h("div", { class: "edit" }, said, doors.element, tool.element, drive.element, done.element);
  let refusals = 0;
  let asked = 0;
  let of: unknown = null;
  app.model.onChange(() => {
    const { hello } = app.model;
    if (!hello) return;
    const edits = hello.mode === "live" && hello.edits;
    if (edits !== Boolean(all.parentNode)) place.replaceChildren(...(edits ? [all] : []));
    const news = session.update(app.model);
    if (!edits) return;
    if (of !== hello) {
      of = hello;
      refusals = 0;
      if (said.textContent === ANEW) say("Done.");
      tool.begin();
    }
    for (const part of [doors, drive]) part.update();
    if (news || !session.done.length) done.update();
    if (session.refusals > refusals && app.model.newestStep() - session.refused!.step < 50) {
      const { robot, other, text } = session.refused!;
      say(`Refused: ${[robot, other].filter(Boolean).join(", ")}: ${text ?? ""}`, true);
    }
    refusals = session.refusals;
    const { step } = app.model.frame ?? { step: 0 };
    if (step > asked) say(said.textContent === NEXT ? "" : said.textContent!, said.classList.contains("bad"));
    asked = step;
  });
}

type Part = { element: HTMLElement; update: () => void };

function doorList(app: App, session: Session, act: (deed: Deed) => void): Part & { at: (x: number, y: number) => boolean } {
  const list = h("ul", { class: "edit-doors", "aria-label": "Doors" });
  const element = h("div", { class: "edit-part" }, h("h3", {}, "Doors"), list);
  const isOpen = (door: DoorInfo): boolean => session.doors.get(door.name) ?? door.open;
  const toggle = (door: DoorInfo) => act({ door: door.name, to: isOpen(door) ? "closed" : "open" });
  let told = "";
  return {
    element,
    at: (x, y) => {
      const reach = 6 * app.view.pixel_m;
      const door = app.model.hello!.world.doors.find(
        (one) => x > one.x0_m - reach && x < one.x1_m + reach && y > one.y0_m - reach && y < one.y1_m + reach,
      );
      if (door) toggle(door);
      return Boolean(door);
    },
    update: () => {
      const all = app.model.hello!.world.doors;
      element.hidden = !all.length;
      const state = all.map((door) => `${door.name} ${isOpen(door)}`).join();
      if (state === told) return;
      told = state;
      const focus = (document.activeElement as HTMLElement | null)?.dataset.door;
      list.classList.toggle("long", all.some(({ name }) => name.length > 6));
      list.replaceChildren(
        ...all.map((door) =>
          h("li", {}, h("button", { type: "button", role: "switch", "aria-checked": String(isOpen(door)), "data-door": door.name, "aria-label": `Door ${door.name}`, title: isOpen(door) ? "Close" : "Open", onclick: () => toggle(door) }, h("span", {}, door.name), h("span", { class: "quiet" }, isOpen(door) ? "open" : "shut"))),
        ),
      );
      if (focus) list.querySelector<HTMLElement>(`[data-door="${CSS.escape(focus)}"]`)?.focus();
    },
  };
}

function toolForm(app: App, session: Session, act: (deed: Deed) => void, door: (x: number, y: number) => boolean): { element: HTMLElement; begin: () => void } {
  const choice = h("select", { "aria-label": "Tool", onchange: () => build() });
  const form = h("form", { class: "edit-form", onsubmit: (event: SubmitEvent) => (event.preventDefault(), submit()) });
  const toggle = h("button", { type: "button", "aria-pressed": "false", onclick: () => draw(toggle.getAttribute("aria-pressed") !== "true") }, "Draw");
  const help = h("p", { class: "quiet" });
  const element = h("div", { class: "edit-part" }, h("h3", {}, "Change"), h("div", { class: "edit-row" }, choice, toggle), help, form);
  const kept = new Map<string, Values>();
  let tool: Tool | null = null;
  let controls = new Map<string, HTMLInputElement | HTMLSelectElement>();
  const values = (): Values => Object.fromEntries([...controls].map(([name, control]) => [name, control.value]));
  const submit = () => {
    if (tool && form.reportValidity()) act(tool.deed(values()));
  };
  const fill = (fields: Drawn, complete: boolean) => {
    for (const [name, value] of Object.entries(fields)) if (controls.has(name)) controls.get(name)!.value = value;
    if (complete) submit();
  };
  const drawing = new Drawing(app, session, fill, (x, y) => tool?.group === "World" && door(x, y));
  const draw = (on: boolean) => {
    toggle.setAttribute("aria-pressed", String(on));
    drawing.set(on && tool?.gesture ? tool.gesture : null);
    if (!on || !NARROW.matches) return;
    app.shell.right.hidden = true; // the column would hide the scene
    app.shell.right.dispatchEvent(new Event("fold"));
  };
  document.addEventListener("keydown", (event) => event.key === "Escape" && draw(false));
  const build = () => {
    if (tool) kept.set(tool.name, values());
    tool = TOOLS.find((one) => one.name === choice.value)!;
    const before = kept.get(tool.name) ?? {};
    controls = new Map();
    const rows = tool.fields(app.model.hello!).map((field) => {
      const control = controlOf(field, before[field.name]);
      controls.set(field.name, control);
      return h("label", { class: field.wide ? "wide" : "" }, field.label, control);
    });
    form.replaceChildren(h("div", { class: "edit-fields" }, ...rows), h("button", { type: "submit", class: "primary" }, tool.verb));
    toggle.hidden = !tool.gesture;
    setText(help, tool.help ? `${tool.help}${tool.gesture ? " Draw turns the mouse into the tool; Esc ends it." : ""}` : "");
    help.hidden = !tool.help;
    if (toggle.getAttribute("aria-pressed") === "true") draw(true);
  };
  return {
    element,
    begin: () => {
      const tools = TOOLS.filter((one) => one.there?.(app.model.hello!) ?? true);
      const groups = [...new Set(tools.map((one) => one.group))];
      const chosen = choice.value;
      choice.replaceChildren(
        ...groups.map((group) =>
          h("optgroup", { label: group }, ...tools.filter((one) => one.group === group).map((one) => h("option", { value: one.name }, one.title))),
        ),
      );
      if (tools.some((one) => one.name === chosen)) choice.value = chosen;
      build();
    },
  };
}

function controlOf(field: Field, before: string | undefined): HTMLInputElement | HTMLSelectElement {
  const value = before ?? String(field.value);
  if (field.options) {
    const select = h("select", { "aria-label": field.label }, ...field.options.map((one) => h("option", { value: one }, one.replaceAll("_", " "))));
    select.value = value;
    return select;
  }
  const kind = field.text ? { type: "text" } : { type: "number", step: "any" };
  return h("input", { ...kind, "aria-label": field.label, value, required: !field.optional });
}

function doneList(app: App, session: Session, act: (deed: Deed) => void): Part {
  const list = h("ol", { class: "edit-done", "aria-label": "Done so far" });
  const back = h("button", { type: "button", onclick: () => undo() }, "Undo");
  const text = h("textarea", { readonly: true, rows: 6, "aria-label": "Scenario text", spellcheck: "false" });
  const copy = h("button", { type: "button", onclick: () => take() }, "Copy");
  const download = h("a", { class: "button", download: "events.yaml", href: "" }, "Download");
  const where = h("p", { class: "quiet" });
  const more = h(
    "details",
    { class: "edit-text" },
    h("summary", {}, "Copy as scenario"),
    where,
    text,
    h("div", { class: "edit-row" }, copy, download),
  );
  const element = h("div", { class: "edit-part" }, h("div", { class: "edit-row" }, h("h3", {}, "Done so far"), back), list, more);
  let address = "";
  let told = "";
  const undo = () => {
    const last = session.undoable.at(-1);
    if (last) act(last.back);
    else if (added() && !app.model.newestStep()) act({ add: "", pose: null });
  };
  const added = () => app.model.hello?.added?.at(-1);
  const take = async () => {
    try {
      await navigator.clipboard.writeText(text.value);
    } catch {
      text.select();
      document.execCommand("copy");
    }
    setText(copy, "Copied");
    setTimeout(() => setText(copy, "Copy"), 1500);
  };
  app.keys.add("Editing", "u", "U", "Undo the last change", undo);
  return {
    element,
    update: () => {
      const all = session.done;
      const robots = app.model.hello!.added ?? [];
      element.hidden = !all.length && !robots.length;
      const last = session.undoable.at(-1);
      const state = `${all.length} ${session.undoable.length} ${robots.join()} ${app.model.newestStep() > 0}`;
      if (state === told) return;
      told = state;
      const what = last ? words(last.done.deed) : robots.length && !app.model.newestStep() ? `add ${robots.at(-1)!}` : "";
      back.disabled = !what;
      back.title = what ? `Undo: ${what} (U)` : "Nothing that has been done can be taken back";
      const begun = app.model.newestStep() > 0 ? "cannot be taken back" : "";
      const deeds = [
        ...robots.map((name) => [0, `add ${name}`, begun] as const),
        ...all.map(({ time_s, deed, note }) => [time_s, words(deed), note] as const),
      ];
      list.replaceChildren(
        ...deeds.slice(-50).map(([time_s, said, note]) =>
          h("li", {}, h("span", { class: "quiet number" }, `${time_s.toFixed(1)} s`), ` ${said}`, note ? h("span", { class: "quiet" }, ` · ${note}`) : null),
        ),
      );
      list.scrollTop = list.scrollHeight;
      text.value = (app.model.hello!.robots_text ?? "") + scenarioText(all);
      setText(where, `Paste it into the scenario of this run${robots.length ? ", in place of its robots" : ""}: it then does the same by itself.`);
      URL.revokeObjectURL(address);
      address = URL.createObjectURL(new Blob([text.value], { type: "text/yaml" }));
      download.href = address;
    },
  };
}
