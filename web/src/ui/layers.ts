/** The panel of layers: what is shown, and what its colours mean. */

import type { App } from "../app";
import { GROUPS, lackOf, type LayerInfo, type Legend } from "../layers";
import { SCALE } from "../theme";
import { h } from "./dom";

export function layersPanel(app: App): HTMLElement {
  const list = h("div", { class: "layers" });
  let of: unknown = null;
  const rows = new Map<string, { info: LayerInfo; box: HTMLInputElement; more: HTMLElement; told: string }>();
  const build = () => {
    rows.clear();
    const groups = new Map(GROUPS.map((group) => [group, h("fieldset", {}, h("legend", {}, group))]));
    for (const info of app.stage.layers) {
      const box = h("input", { type: "checkbox", onchange: () => app.stage.show(info.name, box.checked) });
      const more = h("div", { class: "legend" });
      groups.get(info.group)!.append(h("label", { title: info.about }, box, ` ${info.title}`), more);
      if (info.group === "Heat maps" && groups.get(info.group)!.children.length === 3) groups.get(info.group)!.children[0].after(heatOf(app));
      if (info.name === "trails") groups.get(info.group)!.append(trailLength(app));
      rows.set(info.name, { info, box, more, told: "" });
    }
    list.replaceChildren(...[...groups.values()].filter((group) => group.children.length > 1));
  };
  app.model.onChange(() => {
    if (!app.model.hello) return;
    if (of !== app.model.hello) {
      of = app.model.hello;
      build();
    }
    const context = app.stage.context;
    for (const row of rows.values()) {
      const on = app.stage.shown.has(row.info.name);
      row.box.checked = on;
      const lacks = on ? lackOf(row.info, context) : "";
      const legend = on && !lacks ? row.info.legend?.(context) : undefined;
      const late = legend && app.model.step() < app.model.newestStep() && row.info.cells?.(app.model).some((name) => app.model.hello!.at_end?.includes(name));
      const names = [...(row.info.cells?.(app.model) ?? []), ...(row.info.details ?? [])];
      const every_s = legend && names.map((name) => app.model.hello!.every_s?.[name]).find(Boolean);
      const told = JSON.stringify([lacks, legend, late, every_s]);
      if (told === row.told) continue;
      row.told = told;
      row.more.replaceChildren(...(lacks ? [h("p", {}, lacks)] : []), ...(legend ? draw(legend) : []), ...(late ? [h("p", {}, app.model.hello!.mode === "live" ? "As it is now." : "As it was at the end of the run.")] : []), ...(every_s ? [h("p", {}, `Recorded every ${every_s} s.`)] : []));
    }
  });
  return list;
}

/** Chooses of whom heat maps are. */
function heatOf({ model }: App): HTMLElement | string {
  const { layers, robots } = model.hello!;
  if (!layers.some((name) => name.startsWith("visits:"))) return "";
  const groups = [...new Set(robots.map((robot) => robot.group))].map((name) => `group ${name}`);
  const choice = h(
    "select",
    { "aria-label": "Heat maps of", onchange: () => ((model.heatOf = choice.value), model.changed()) },
    h("option", { value: "team" }, "of the team"),
    ...(groups.length > 1 ? groups.map((name) => h("option", { value: name }, `of the ${name}`)) : []),
    h("option", { value: "robot" }, "of the selected robot"),
  );
  choice.value = model.heatOf;
  if (choice.selectedIndex < 0) choice.value = model.heatOf = "team";
  return choice;
}

const LENGTHS = [5, 10, 20, 60, 180, 600, 3600];

function trailLength({ stage }: App): HTMLElement {
  const choice = h(
    "select",
    { "aria-label": "Length of the trails", onchange: () => ((stage.trail_s = Number(choice.value)), stage.view.draw()) },
    ...LENGTHS.map((s) => h("option", { value: s, selected: s === stage.trail_s }, s < 60 ? `${s} s` : s < 3600 ? `${s / 60} min` : `${s / 3600} h`)),
  );
  return h("div", { class: "legend" }, choice);
}

function draw(legend: Legend): HTMLElement[] {
  if ("keys" in legend)
    return legend.keys.map(([color, words]) => {
      const swatch = h("span", { class: "swatch", "aria-hidden": "true" });
      swatch.style.background = color;
      return h("span", { class: "key" }, swatch, words);
    });
  const bar = h("span", { class: "scale", "aria-hidden": "true" });
  bar.style.background = `linear-gradient(to right, ${(legend.colors ?? SCALE).join(", ")})`;
  const [low, high] = legend.scale;
  const ends = h("span", { class: "ends" }, h("span", {}, low), h("span", {}, high));
  return [...(legend.words ? [h("span", { class: "key" }, legend.words)] : []), bar, ends];
}
