/** The time line: seek, marks of events, next and previous event, filter, list. */

import type { App } from "../app";
import type { EventInfo } from "../messages";
import { h, iconButton, seldom, setText } from "./dom";
import { EventFilter, markOf, textOf, words } from "./events";

const MOST_LISTED = 200;

export function timeline(app: App): HTMLElement[] {
  const { model, keys } = app;
  const filter = new EventFilter(model);
  const slider = h("input", {
    type: "range",
    min: 0,
    max: 1,
    value: 0,
    step: 1,
    "aria-label": "Time",
    class: "slider",
    oninput: () => app.player?.seek(Number(slider.value)),
  });
  const marks = h("canvas", { class: "marks", "aria-hidden": "true" });
  const time = h("output", { "aria-label": "Simulated time", "aria-live": "off", class: "time" }, "0.0 s");
  const now = h("button", { type: "button", class: "now", hidden: true, title: "Show the present (End)", onclick: () => app.player?.seek(null) }, "Now");
  const thin = h("output", { "aria-live": "off", class: "thin quiet", "aria-label": "What is kept of this time" });
  const told = h("output", { class: "event-told", "aria-label": "Event" });
  const jump = (direction: 1 | -1) => {
    const at = model.step();
    const events = filter.shown;
    const event = direction > 0 ? events.find((one) => one.step > at) : events.filter((one) => one.step < at).at(-1);
    if (event) go(event);
    else setText(told, direction > 0 ? "no later event" : "no earlier event");
  };
  const go = (event: EventInfo) => {
    app.player?.seek(event.step);
    app.lookAt(event.x, event.y);
    setText(told, `${event.time_s.toFixed(1)} s  ${textOf(event)}`);
  };
  const list = h("ol", { class: "event-list", hidden: true, id: "event-list", "aria-label": "Events", tabindex: "0" });
  const choices = h("div", { class: "choices", hidden: true, id: "event-filter", role: "group", "aria-label": "Events that are shown" });
  const fold = (button: HTMLElement, part: HTMLElement, fill: () => void) => {
    part.hidden = !part.hidden;
    button.setAttribute("aria-expanded", String(!part.hidden));
    fill();
  };
  const listButton = iconButton("list", "List of events", () => fold(listButton, list, fillList), "l");
  const filterButton = iconButton("filter", "Filter events", () => fold(filterButton, choices, fillChoices));
  for (const [button, part] of [[listButton, list], [filterButton, choices]] as const) {
    button.setAttribute("aria-expanded", "false");
    button.setAttribute("aria-controls", part.id);
    keys.onEscape(1.5, () => !part.hidden && [part, button].some((one) => one.contains(document.activeElement)) && (button.click(), button.focus(), true));
  }

  const fillList = () => {
    if (list.hidden) return;
    const atEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - 4;
    const events = filter.shown.slice(-MOST_LISTED);
    const state = `${events.length} ${events.at(-1)?.step} ${model.leftOut}`;
    if (list.dataset.last === state) return;
    list.dataset.last = state;
    list.replaceChildren(
      ...events.map((event) =>
        h(
          "li",
          {},
          h("button", { type: "button", onclick: () => go(event) }, h("span", { class: "event-time" }, `${event.time_s.toFixed(1)} s`), h("span", { class: "event-text" }, textOf(event))),
        ),
      ),
    );
    if (model.leftOut) list.prepend(h("li", { class: "quiet" }, `${model.leftOut} earlier events are not kept.`));
    if (!events.length) list.replaceChildren(h("li", { class: "quiet" }, "No events yet."));
    if (atEnd) list.scrollTop = list.scrollHeight;
  };
  const fillChoices = () => {
    if (choices.hidden) return;
    const known = filter.kinds.join();
    if (choices.dataset.known === known) return;
    choices.dataset.known = known;
    const robots = h(
      "select",
      {
        "aria-label": "Events of",
        onchange: () => {
          filter.robot = robots.value;
          changed();
        },
      },
      h("option", { value: "" }, "all robots"),
      ...(model.hello?.robots ?? []).map((robot) => h("option", { value: robot.name }, robot.name)),
    );
    robots.value = filter.robot;
    const kinds = filter.kinds.map((kind) => {
      const box = h("input", {
        type: "checkbox",
        checked: !filter.hidden.has(kind),
        onchange: () => {
          if (box.checked) filter.hidden.delete(kind);
          else filter.hidden.add(kind);
          changed();
        },
      });
      return h("label", {}, box, words(kind));
    });
    choices.replaceChildren(robots, ...kinds, kinds.length ? "" : h("span", { class: "quiet" }, "No events yet."));
  };
  const changed = () => {
    list.dataset.last = "";
    fillList();
    draw();
  };

  const draw = () => {
    const ratio = Math.min(window.devicePixelRatio, 2);
    const [width, height] = [marks.clientWidth, marks.clientHeight];
    if (!width) return;
    if (marks.width !== Math.round(width * ratio)) Object.assign(marks, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
    const g = marks.getContext("2d")!;
    const style = getComputedStyle(marks);
    const colors = new Map<string, string>();
    const color = (name: string) => {
      const key = name.slice(4, -1);
      if (!colors.has(key)) colors.set(key, style.getPropertyValue(key));
      return colors.get(key)!;
    };
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, width, height);
    const [first, last] = [Number(slider.min), Math.max(Number(slider.max), Number(slider.min) + 1)];
    const taken = new Set<string>();
    for (const event of filter.shown) {
      const x = Math.round(8 + ((width - 16) * (event.step - first)) / (last - first));
      const { shape, color: name } = markOf(event.kind);
      if (x < 8 || taken.has(`${x} ${shape}`)) continue;
      taken.add(`${x} ${shape}`);
      g.fillStyle = color(name);
      g.beginPath();
      const y = height / 2;
      if (shape === "dot") g.arc(x, y, 2.5, 0, 7);
      else if (shape === "bar") g.rect(x - 1.5, y - 5, 3, 10);
      else if (shape === "diamond") for (const [dx, dy] of [[0, -5], [4, 0], [0, 5], [-4, 0]]) g.lineTo(x + dx, y + dy);
      else for (const [dx, dy] of [[0, -5], [4.5, 4], [-4.5, 4]]) g.lineTo(x + dx, y + dy);
      g.fill();
    }
  };
  const drawSoon = seldom(draw, 200);
  new ResizeObserver(draw).observe(marks);

  const update = () => {
    const { hello, frame } = model;
    if (!hello || !frame) return;
    const first = model.history[0]?.step ?? 0;
    const newest = model.newestStep();
    slider.min = String(Math.min(first, newest));
    slider.max = String(Math.max(newest, first + 1));
    slider.value = String(model.step());
    const shown_s = model.step() * hello.step_s;
    slider.setAttribute("aria-valuetext", `${shown_s.toFixed(1)} s`);
    const end = (newest * hello.step_s).toFixed(1);
    setText(time, model.shown === null ? `${end} s` : `${shown_s.toFixed(1)} s of ${end} s`);
    const at = model.indexAt(model.step());
    const every = (model.history[at + 1]?.step ?? 0) - (model.history[at]?.step ?? 0);
    setText(thin, hello.mode === "live" && model.shown !== null && every > 1 ? `a pose every ${(every * hello.step_s).toFixed(1)} s` : "");
    now.hidden = hello.mode === "replay" || model.shown === null;
    document.body.classList.toggle("past", !now.hidden);
  };
  model.onChange(update);
  model.onChange(drawSoon);
  model.onChange(seldom(fillList, 500));
  model.onChange(seldom(fillChoices, 500));
  const previous = iconButton("previous", "Previous event", () => jump(-1), "p");
  const next = iconButton("next", "Next event", () => jump(1), "n");
  keys.add("Time", "n", "n", "Next event", () => jump(1));
  keys.add("Time", "p", "p", "Previous event", () => jump(-1));
  keys.add("Time", "Home", "Home", "The first step that the page holds", () => app.player?.seek(0));
  keys.add("Time", "End", "End", "The present", () => app.player?.seek(null));
  keys.add("Time", "l", "l", "List of events", () => (listButton.click(), (list.hidden ? listButton : list).focus()));
  return [
    h(
      "div",
      { class: "time-row", role: "group", "aria-label": "Time line" },
      time,
      thin,
      now,
      h("div", { class: "track" }, marks, slider),
      previous,
      next,
      filterButton,
      listButton,
    ),
    told,
    choices,
    list,
  ];
}
