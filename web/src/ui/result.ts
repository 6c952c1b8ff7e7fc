/** The result of a run that has ended: its main metrics, and where its record is. */

import type { App } from "../app";
import type { Result } from "../messages";
import { h } from "./dom";
import { short, wordsOf } from "./words";

export function resultPanel(app: App): void {
  const place = app.shell.result;
  let shown: Result | undefined;
  const show = (result: Result | undefined) => {
    if (result === shown) return;
    shown = result;
    place.replaceChildren(...(result ? draw(result) : []));
  };
  app.onMessage("result", (header) => {
    if (app.model.hello) app.model.hello.result = header as unknown as Result;
    app.model.changed();
  });
  app.model.onChange(() => show(app.model.hello?.result));
}

function draw({ folder, metrics }: Result): HTMLElement[] {
  const rows = metrics.flatMap(([name, value, meaning]) => [
    h("dt", { title: meaning }, wordsOf(name)),
    h("dd", { class: "number", title: meaning }, typeof value === "number" ? short(value) : String(value)),
  ]);
  return [h("dl", { class: "result" }, ...rows), h("p", { class: "quiet" }, "Record: ", h("code", {}, folder))];
}
