/** The robots: find, sort, select several, follow. */

import type { App } from "../app";
import { FLAGS } from "../scene/robots";
import { robotColor } from "../theme";
import { h, iconButton, seldom, setText } from "./dom";
import { short, wordsOf } from "./words";

export function robotsPanel(app: App): HTMLElement {
  const { model } = app;
  let rows: HTMLElement[] = []; // by robot
  let order: number[] = [];
  let active = -1;
  let anchor = -1;
  let follow = false;
  let of: unknown = null;
  const find = h("input", { type: "search", "aria-label": "Find robots", placeholder: "Find robots (/)", oninput: () => arrange() });
  const sort = h("select", { "aria-label": "Sort robots by", onchange: () => arrange() });
  const list = h("ul", { role: "listbox", "aria-label": "Robots", "aria-multiselectable": "true", tabindex: "0", class: "robot-list" });
  const count = h("span", { class: "quiet", role: "status" });
  const followButton = iconButton("follow", "Follow", () => setFollow(!follow), "c");
  const clear = iconButton("close", "Select none", () => model.select([]));
  const setFollow = (on: boolean) => {
    follow = on && model.selected.size > 0;
    followButton.setAttribute("aria-pressed", String(follow));
    update();
    model.changed();
  };
  followButton.setAttribute("aria-pressed", "false");
  app.follow = (i) => {
    model.select([i]);
    setFollow(true);
  };

  const measure = (i: number): number | null => {
    const values = model.measures.get(sort.value);
    return values ? values[i] : null;
  };
  const build = () => {
    const robots = model.hello!.robots;
    rows = robots.map((robot, i) => {
      const swatch = h("span", { class: "swatch", "aria-hidden": "true" });
      swatch.style.background = robotColor(i, robots.length);
      return h(
        "li",
        { role: "option", id: `robot-${i}`, "aria-selected": "false", onclick: (event: MouseEvent) => click(i, event) },
        swatch,
        h("span", { class: "robot-name" }, robot.name),
        h("span", { class: "robot-state" }),
        h("span", { class: "number robot-value" }),
      );
    });
    const kinds = new Set(robots.map((robot) => robot.kind)).size > 1;
    sort.replaceChildren(h("option", { value: "" }, "by name"), ...(kinds ? [h("option", { value: "kind" }, "by kind")] : []));
    arrange();
  };
  const arrange = () => {
    const robots = model.hello?.robots ?? [];
    const words = find.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    order = robots.map((_, i) => i).filter((i) => words.every((word) => `${robots[i].name} ${robots[i].kind}`.toLowerCase().includes(word)));
    if (sort.value === "kind") order.sort((i, j) => robots[i].kind.localeCompare(robots[j].kind) || i - j);
    else if (sort.value) order.sort((i, j) => (measure(j) ?? -Infinity) - (measure(i) ?? -Infinity) || i - j);
    const shown = order.map((i) => rows[i]);
    if (shown.length !== list.childElementCount || shown.some((row, k) => row !== list.children[k])) list.replaceChildren(...shown);
    update();
  };
  const click = (i: number, event: { ctrlKey: boolean; metaKey: boolean; shiftKey: boolean }) => {
    const chosen = new Set(event.ctrlKey || event.metaKey ? model.selected : []);
    if (event.shiftKey && anchor >= 0) {
      const [from, to] = [order.indexOf(anchor), order.indexOf(i)].sort((a, b) => a - b);
      for (const k of order.slice(Math.max(0, from), to + 1)) chosen.add(k);
    } else {
      if (chosen.has(i)) chosen.delete(i);
      else chosen.add(i);
      anchor = i;
    }
    activate(i);
    model.select(chosen);
  };
  const activate = (i: number) => {
    rows[active]?.classList.remove("active");
    active = i;
    rows[i]?.classList.add("active");
    list.setAttribute("aria-activedescendant", `robot-${i}`);
    rows[i]?.scrollIntoView({ block: "nearest" });
  };
  list.addEventListener("keydown", (event) => {
    const k = order.indexOf(active);
    const to = { ArrowDown: k + 1, ArrowUp: k - 1, Home: 0, End: order.length - 1 }[event.key];
    if (to !== undefined && order.length) {
      const i = order[Math.min(Math.max(to, 0), order.length - 1)];
      if (event.ctrlKey) activate(i);
      else click(i, { ctrlKey: false, metaKey: false, shiftKey: event.shiftKey });
    } else if (event.key === " " && active >= 0) click(active, { ctrlKey: true, metaKey: false, shiftKey: false });
    else if (event.key === "a" && (event.ctrlKey || event.metaKey)) model.select(order);
    else return;
    event.preventDefault();
  });
  find.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !order.length) return;
    model.select(order);
    list.focus();
  });

  const update = () => {
    const { hello } = model;
    if (!hello) return;
    if (!model.selected.size && follow) setFollow(false);
    const flags = model.arrays.get("flags")?.data;
    for (const i of order) {
      const row = rows[i];
      row.setAttribute("aria-selected", String(model.selected.has(i)));
      const flag = flags?.[i] ?? 0;
      setText(row.children[2], [flag & FLAGS.gone && "gone", flag & FLAGS.halted && !(flag & FLAGS.gone) && "stopped", flag & FLAGS.mute && "no radio"].filter(Boolean).join(", "));
      setText(row.children[3], sort.value === "kind" ? hello.robots[i].kind : sort.value ? short(measure(i)) : "");
    }
    setText(count, `${order.length === hello.robots.length ? "" : `${order.length} of `}${hello.robots.length} robots${model.selected.size ? `, ${model.selected.size} selected` : ""}`);
    followButton.disabled = clear.disabled = !model.selected.size;
  };
  const updateSoon = seldom(update, 200);
  const arrangeSoon = seldom(() => sort.value && sort.value !== "kind" && arrange(), 1000);
  model.onChange(() => {
    if (!model.hello) return;
    if (of !== model.hello) {
      of = model.hello;
      build();
    }
    for (const name of model.measures.keys())
      if (![...sort.options].some((one) => one.value === name)) sort.append(h("option", { value: name }, `by ${wordsOf(name)}`));
    updateSoon();
    arrangeSoon();
    const pose = model.poses();
    if (!follow || !pose) return;
    const chosen = [...model.selected];
    const mean = (k: number) => chosen.reduce((sum, i) => sum + pose[3 * i + k], 0) / chosen.length;
    if (chosen.length) app.view.lookAt(mean(0), mean(1), app.view.middle.z);
  });
  app.keys.add("Robots", "/", "/", "Find robots", () => {
    if (app.shell.left.hidden) document.querySelector<HTMLElement>('[aria-controls="left"]')!.click();
    find.focus();
  });
  app.keys.add("Robots", "c", "c", "Follow the selected robots", () => !followButton.disabled && followButton.click());
  app.keys.add("Robots", "", "click, Ctrl click", "Select a robot, one more");
  app.keys.add("Robots", "", "↑ ↓ Shift Ctrl a", "In the list: select one, several, all");
  app.wishes.push(() => ({ details: app.shell.left.hidden || !model.complete ? [] : ["measures"] }));
  return h(
    "section",
    { class: "robots", "aria-label": "Robots of the team" },
    h("div", { class: "robots-head" }, find, sort),
    h("div", { class: "robots-head" }, count, followButton, clear),
    list,
  );
}
