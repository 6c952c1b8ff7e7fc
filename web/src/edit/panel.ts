/** The Edit panel: doors, tools, driving, what was done, and its text as a scenario. */

import type { App } from "../app";
import { driven } from "../layers";
import type { DoorInfo, EditsInfo, ToServer } from "../messages";
import type { Entry } from "../ui/context";
import { h, setText } from "../ui/dom";
import { Drawing, outlineOf, touches, type Drawn, type Waiting } from "./drawing";
import { driving } from "./driving";
import { scenarioText, Session, waits, words, type Deed } from "./session";
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
  const ask = (message: ToServer, answer: () => string) =>
    app
      .connection!.ask(message)
      .then(() => say(answer()))
      .catch((error: Error) => say(error.message, true));
  const soon = () => (app.model.frame?.playing ? "Done." : NEXT);
  const act = ({ add, ...deed }: Deed) =>
    add === undefined ? ask({ type: "do", event: deed }, soon) : ask({ type: "add", group: add as string, pose: deed.pose as Pose }, () => ANEW);
  const drive = driving(app, (text) => say(text, true));
  const session = new Session();
  const waiting: Waiting = { edits: null };
  const doors = doorList(app, session, waiting, act);
  const tool = toolForm(app, session, waiting, act, doors);
  const take = (type: "undo" | "redo") => {
    const cancels = type === "undo" && waits(waiting.edits);
    const adds = waiting.edits?.[type]?.add !== undefined;
    return ask({ type }, () => (adds ? ANEW : cancels && !app.model.frame?.playing ? "Taken back before it happened." : soon()));
  };
  const done = doneList(app, session, waiting, take);
  const all = h("div", { class: "edit" }, said, doors.element, tool.element, drive.element, done.element);
  app.tools.menu.more.push((x, y, robot) => {
    const { hello, frame, selected } = app.model;
    if (!hello?.edits || hello.mode !== "live" || frame?.status != null || !app.connection!.open) return [];
    const at = [x, y].map((value) => Number(value.toFixed(2)));
    const name = hello.robots[robot]?.name;
    const chosen = [...selected].filter((i) => i !== robot).map((i) => hello.robots[i].name);
    const door = doors.at(x, y);
    return [
      ...(door ? [[`${doors.isOpen(door) ? "Close" : "Open"} door ${door.name}`, () => doors.toggle(door)] as Entry] : []),
      ...thingsAt(session, x, y, 6 * app.view.pixel_m).map((one): Entry => [`Remove ${one}`, () => act({ remove: one })]),
      ...(name && driven(app.model, app.model.newestStep()).has(name) ? [[`Release ${name}`, () => act({ drive: name })] as Entry] : []),
      ...(name ? [] : chosen.slice(0, 8).map((one): Entry => [`Send ${one} here`, () => act({ drive: one, to: at })])),
      ...(name ? [] : chosen.slice(0, 1).map((one): Entry => [`Place ${one} here`, () => act({ place: one, pose: [...at, 0] })])),
    ];
  });
  let refusals = 0;
  let asked = 0;
  let of: unknown = null;
  app.onMessage("edits", (header) => {
    waiting.edits = header as unknown as EditsInfo;
    if (app.model.hello?.edits) for (const part of [doors, done]) part.update();
    app.view.draw();
  });
  app.model.onChange(() => {
    const { hello } = app.model;
    if (!hello) return;
    const edits = hello.mode === "live" && hello.edits;
    if (edits !== Boolean(all.parentNode)) place.replaceChildren(...(edits ? [all] : []));
    const news = session.update(app.model);
    if (!edits) return;
    all.inert = !app.connection!.open || app.model.frame?.status != null;
    if (of !== hello) {
      of = hello;
      refusals = session.refusals.length;
      if (said.textContent === ANEW) say("Done.");
      app.connection!.send({ type: "me", key: viewerKey() });
      tool.begin();
    }
    for (const part of [doors, tool, drive]) part.update();
    if (news || !session.done.length) done.update();
    for (const { by, robot, other, text } of session.refusals.slice(refusals))
      if (by === waiting.edits?.viewer) say(`Refused: ${[robot, other].filter(Boolean).join(", ")}: ${text ?? ""}`, true);
    refusals = session.refusals.length;
    const { step } = app.model.frame ?? { step: 0 };
    if (step > asked && said.textContent === NEXT) say("");
    asked = step;
  });
}

/** Random text by which the server knows this tab again after a reload. */
function viewerKey(): string {
  const fresh = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  try {
    const key = sessionStorage.getItem("covey.viewer") ?? fresh;
    sessionStorage.setItem("covey.viewer", key);
    return key;
  } catch {
    return fresh;
  }
}

/** Names of what viewers have put up, and stands, at a place. */
function thingsAt({ named, standing }: Session, x: number, y: number, reach: number): string[] {
  return [...standing].filter((name) => {
    const deed = named.get(name);
    const outline = deed && outlineOf(deed, [], new Map());
    const { thickness_m = 0, radius_m = 0 } = { ...(deed?.wall as Deed), ...(deed?.obstacle as Deed) } as Record<string, number>;
    return outline && touches(outline, x, y, reach + Math.max(thickness_m / 2, radius_m));
  });
}

type Part = { element: HTMLElement; update: () => void };

interface Doors extends Part {
  /** The door at a place [m]. */
  at: (x: number, y: number) => DoorInfo | undefined;
  isOpen: (door: DoorInfo) => boolean;
  toggle: (door: DoorInfo) => void;
}

function doorList(app: App, session: Session, waiting: Waiting, act: (deed: Deed) => void): Doors {
  const list = h("ul", { class: "edit-doors", "aria-label": "Doors" });
  const element = h("div", { class: "edit-part" }, h("h3", {}, "Doors"), list);
  const isOpen = (door: DoorInfo): boolean => {
    const soon = (waiting.edits?.waiting ?? []).flatMap(({ deeds }) => deeds).filter((deed) => deed.door === door.name);
    return soon.length ? soon.at(-1)!.to === "open" : (session.doors.get(door.name) ?? door.open);
  };
  const toggle = (door: DoorInfo) => act({ door: door.name, to: isOpen(door) ? "closed" : "open" });
  let told = "";
  return {
    element,
    isOpen,
    toggle,
    at: (x, y) => {
      const reach = 6 * app.view.pixel_m;
      return app.model.hello!.world.doors.find(
        (one) => x > one.x0_m - reach && x < one.x1_m + reach && y > one.y0_m - reach && y < one.y1_m + reach,
      );
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

function toolForm(app: App, session: Session, waiting: Waiting, act: (deed: Deed) => void, doors: Doors): Part & { begin: () => void } {
  const choice = h("select", { "aria-label": "Tool", onchange: () => build() });
  const verb = h("button", { type: "submit", class: "primary" });
  const form = h("form", { class: "edit-form", onsubmit: (event: SubmitEvent) => (event.preventDefault(), submit()) });
  const toggle = h("button", { type: "button", "aria-pressed": "false", onclick: () => draw(toggle.getAttribute("aria-pressed") !== "true") }, "Draw");
  const help = h("p", { class: "quiet" });
  const element = h("div", { class: "edit-part" }, h("h3", {}, "Change"), h("div", { class: "edit-row" }, choice, toggle), help, form);
  const kept = new Map<string, Values>();
  let tool: Tool | null = null;
  let controls = new Map<string, HTMLInputElement | HTMLSelectElement>();
  const values = (): Values => Object.fromEntries([...controls].map(([name, control]) => [name, control.value]));
  const lackOf = (one: Tool): string => one.lacks?.(app.model.hello!, { begun: app.model.newestStep() > 0, driven: driven(app.model, app.model.newestStep()) }) ?? "";
  const lock = () => {
    verb.title = tool ? lackOf(tool) : "";
    verb.disabled = Boolean(verb.title);
  };
  const submit = () => {
    if (tool && !lackOf(tool) && form.reportValidity()) act(tool.deed(values()));
  };
  const fill = (fields: Drawn, complete: boolean) => {
    for (const [name, value] of Object.entries(fields)) if (controls.has(name)) controls.get(name)!.value = value;
    if (complete) submit();
  };
  const door = (x: number, y: number) => {
    const there = tool?.group === "World" ? doors.at(x, y) : undefined;
    if (there) doors.toggle(there);
    return Boolean(there);
  };
  const drawing = new Drawing(app, session, waiting, fill, door, act);
  const draw = (on: boolean) => {
    toggle.setAttribute("aria-pressed", String(on));
    drawing.set(on, tool?.gesture ?? null);
    if (!on || !NARROW.matches) return;
    app.shell.right.hidden = true; // the column would hide the scene
    app.shell.right.dispatchEvent(new Event("fold"));
  };
  app.keys.onEscape(2, () => toggle.getAttribute("aria-pressed") === "true" && (draw(false), true));
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
    if (selected && controls.has("robot")) controls.get("robot")!.value = selected;
    setText(verb, tool.verb);
    lock();
    form.replaceChildren(h("div", { class: "edit-fields" }, ...rows), verb);
    const words = [tool.help ?? "", tool.gesture ? "Draw turns the mouse into the tool;" : "With Draw", tool.gesture === "robot" ? "Esc ends it." : "a drag on a robot moves it; Esc ends it."];
    setText(help, words.filter(Boolean).join(" "));
    if (toggle.getAttribute("aria-pressed") === "true") draw(true);
  };
  let offered = "";
  let selected = "";
  const offer = () => {
    const [first] = app.model.selected;
    const name = app.model.hello!.robots[first]?.name ?? "";
    if (name && name !== selected && controls.has("robot")) controls.get("robot")!.value = name;
    selected = name;
    const tools = TOOLS.filter((one) => one.there?.(app.model.hello!) ?? true);
    const lacks = new Map(tools.map((one) => [one.name, lackOf(one)]));
    const told = JSON.stringify([...lacks]);
    if (told === offered) return;
    offered = told;
    const groups = [...new Set(tools.map((one) => one.group))];
    const chosen = choice.value;
    const option = ({ name, title }: Tool) => h("option", { value: name, disabled: Boolean(lacks.get(name)) }, [title, lacks.get(name)].filter(Boolean).join(": "));
    choice.replaceChildren(...groups.map((group) => h("optgroup", { label: group }, ...tools.filter((one) => one.group === group).map(option))));
    if (lacks.has(chosen)) choice.value = chosen;
    lock();
  };
  return { element, begin: () => (offer(), build()), update: offer };
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

function doneList(app: App, session: Session, waiting: Waiting, take: (type: "undo" | "redo") => void): Part {
  const list = h("ol", { class: "edit-done", "aria-label": "Done so far" });
  const back = h("button", { type: "button", onclick: () => undo() }, "Undo");
  const again = h("button", { type: "button", onclick: () => redo() }, "Redo");
  const text = h("textarea", { readonly: true, rows: 6, "aria-label": "Scenario text", spellcheck: "false" });
  const copy = h("button", { type: "button", onclick: () => void copyText() }, "Copy");
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
  const element = h("div", { class: "edit-part" }, h("div", { class: "edit-row" }, h("h3", {}, "Done so far"), back, again), list, more);
  let address = "";
  let told = "";
  const undo = () => waiting.edits?.undo && take("undo");
  const redo = () => waiting.edits?.redo && take("redo");
  const copyText = async () => {
    try {
      await navigator.clipboard.writeText(text.value);
    } catch {
      text.select();
      document.execCommand("copy");
    }
    setText(copy, "Copied");
    setTimeout(() => setText(copy, "Copy"), 1500);
  };
  app.keys.add("Editing", "u", "U, Ctrl Z", "Undo your last change", undo);
  app.keys.add("Editing", "U", "Shift U, Ctrl Y, Ctrl Shift Z", "Do again what you took back last", redo);
  app.keys.addControl("z", undo);
  app.keys.addControl("Z", redo);
  app.keys.addControl("y", redo);
  return {
    element,
    update: () => {
      const all = session.done;
      const robots = app.model.hello!.added ?? [];
      const { viewer = 0, undo: last = null, redo: next = null, waiting: soon = [] } = waiting.edits ?? {};
      element.hidden = !all.length && !robots.length && !soon.length && !next;
      const state = JSON.stringify([all.length, all.at(-1), robots, app.model.newestStep() > 0, waiting.edits]);
      if (state === told) return;
      told = state;
      const what = last ? words(last) : "";
      back.disabled = !what;
      back.title = what ? `Undo: ${what} (U, Ctrl Z)` : "Nothing that you have done can be taken back";
      again.disabled = !next;
      again.title = next ? `Do again: ${words(next)} (Ctrl Y)` : "You have taken nothing back";
      const begun = app.model.newestStep() > 0 ? "cannot be taken back" : "";
      const who = (by: number) => (!by ? "" : by === viewer ? "you" : `viewer ${by}`);
      const row = (when: string, what: string, notes: string[], name = "") =>
        h("li", { class: name }, h("span", { class: "quiet number" }, when), " ", h("span", { class: "what" }, what), h("span", { class: "quiet" }, notes.filter(Boolean).map((note) => ` · ${note}`).join("")));
      list.replaceChildren(
        ...robots.map((name) => row("0.0 s", `add ${name}`, [begun])),
        ...all.slice(-50).map((one) =>
          row(`${one.time_s.toFixed(1)} s`, `${one.isUndo ? "undo: " : ""}${words(one.deed)}`, [who(one.by), one.note, one.undone ? "taken back" : ""], one.undone ? "undone" : ""),
        ),
        ...soon.filter(({ kind }) => kind !== "drive").flatMap(({ by, kind, deeds }) => deeds.map((deed) => row("soon", `${kind === "undo" ? "undo: " : ""}${words(deed)}`, [who(by), "in the next step"], "soon"))),
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
