/** The selected robots one by one: pose, software, readings, messages, computer, and its map on the scene. */

import type { App } from "../app";
import { theRobot } from "../layers";
import { failureOf } from "./events";
import { h, panel, seldom, setText } from "./dom";

interface Inspected {
  robot: number;
  sections: Record<string, [string, string][]>;
}

export function inspector(app: App): HTMLElement {
  const { model } = app;
  const rows = h("div", {});
  const map = h("input", { type: "checkbox", onchange: () => app.stage.show("map", map.checked) });
  const mapLabel = h("label", {}, map, "Show its map");
  const robot = h("select", { "aria-label": "Inspected robot", onchange: () => choose(Number(robot.value)) });
  const body = h("div", { class: "panel-body inspector" }, robot, mapLabel, rows);
  const part = panel("Inspector", body);
  part.hidden = true;
  let shape = "";
  let newest: Inspected[] = [];

  /** Makes a selected robot the last one, which layers of one robot are about. */
  const choose = (i: number) => model.select([...[...model.selected].filter((one) => one !== i), i]);

  const show = () => {
    const { hello } = model;
    part.hidden = !hello || !model.selected.size;
    if (!hello || part.hidden) return;
    const chosen = [...model.selected];
    const options = chosen.map((i) => hello.robots[i].name).join();
    if (robot.dataset.options !== options) {
      robot.dataset.options = options;
      robot.replaceChildren(...chosen.map((i) => h("option", { value: i }, hello.robots[i].name)));
    }
    const i = chosen.at(-1)!;
    robot.value = String(i);
    map.checked = app.stage.shown.has("map");
    mapLabel.hidden = !hello.layers.includes(`map:${theRobot(model)}`);
    const failed = failureOf(model, hello.robots[i].name);
    fill({ ...(failed ? { Failed: [["error", failed.text] as [string, string]] } : {}), ...sectionsOf(i) });
  };
  const sectionsOf = (i: number): Record<string, [string, string][]> => {
    const told = newest.find((one) => one.robot === i);
    if (told && model.shown === null) return told.sections;
    const pose = model.poses()?.subarray(3 * i, 3 * i + 3);
    const estimate = model.shown === null || model.hello?.mode === "replay" ? model.arrays.get("estimate")?.data.subarray(3 * i, 3 * i + 3) : undefined;
    const words = (at: ArrayLike<number>) => `${at[0].toFixed(2)} m, ${at[1].toFixed(2)} m, ${((at[2] * 180) / Math.PI).toFixed(0)}°`;
    const pairs: [string, string][] = [["kind", model.hello!.robots[i].kind]];
    if (pose) pairs.push(["pose", words(pose)]);
    if (estimate) pairs.push(["estimate", words(estimate)]);
    return { Motion: pairs };
  };
  const fill = (sections: Record<string, [string, string][]>) => {
    const now = JSON.stringify(Object.entries(sections).map(([title, pairs]) => [title, pairs.map(([name]) => name)]));
    if (now !== shape) {
      shape = now;
      rows.replaceChildren(
        ...Object.entries(sections).map(([title, pairs]) =>
          h("section", { "aria-label": title }, h("h2", {}, title), h("dl", {}, ...pairs.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]))),
        ),
      );
    }
    const values = rows.querySelectorAll("dd");
    Object.values(sections)
      .flat()
      .forEach(([, value], k) => setText(values[k], value));
  };
  const showSoon = seldom(show, 150);
  model.onChange(() => {
    const told = model.frame?.inspector as Inspected[] | undefined;
    if (told) newest = told;
    showSoon();
  });
  app.wishes.push(() => ({ details: model.selected.size && !app.shell.left.hidden && part.open ? ["inspector"] : [] }));
  part.addEventListener("toggle", () => app.watch());
  return part;
}
