/** Two recorded runs side by side: each is a page in a frame; time and view of one are those of the other. */

import type { App } from "./app";
import { h } from "./ui/dom";

export function pair(root: HTMLElement, token: string): void {
  root.className = "pair";
  document.title = "Two runs – Covey";
  const frames = ["&of=A", "&second&of=B"].map((which, k) =>
    h("iframe", { src: `/#token=${token}${which}`, title: k ? "Second run" : "First run" }),
  );
  root.append(...frames);
  const apps: App[] = [];
  const look = setInterval(() => {
    frames.forEach((frame, k) => (apps[k] ??= (frame.contentWindow as (Window & { covey?: App }) | null)?.covey as App));
    if (!apps.every((app) => app?.model.frame && app.model.shown !== null)) return;
    clearInterval(look);
    apps.forEach((app, k) => follow(app, apps[1 - k]));
    Object.assign(window, { covey: { apps } });
  }, 50);
}

/** What the two share: who leads now, and the place that both look at. */
const both = { leads: null as App | null, place: "" };

/** Lets another page go to the time, and look at the place, of one page. */
function follow(app: App, other: App): void {
  let shown = time_s(app);
  app.model.onChange(() => {
    if (time_s(app) === shown) return;
    shown = time_s(app);
    if (both.leads) return; // it is the one that follows
    both.leads = app;
    other.player!.seek(Math.round(shown / other.model.hello!.step_s));
    both.leads = null;
  });
  if (placeOf(app) !== placeOf(other)) return; // each looks at a world of its own
  app.view.afterDraw.push(() => {
    const [from, to] = [app.view, other.view];
    const place = [from.middle.x, from.middle.y, from.pixel_m].join(" ");
    if (place === both.place) return;
    both.place = place;
    to.lookAt(from.middle.x, from.middle.y, from.middle.z, from.pixel_m);
  });
}

function placeOf({ model }: App): string {
  const { rows, columns, resolution_m, origin } = model.hello!.world;
  return JSON.stringify([rows, columns, resolution_m, origin]);
}

function time_s({ model }: App): number {
  return model.step() * model.hello!.step_s;
}
