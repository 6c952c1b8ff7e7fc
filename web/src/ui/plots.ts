/** Plots over time: shares of the team, links, traffic, processor time by phase, and any measurement of each robot. */

import uPlot from "uplot";
import type { App } from "../app";
import { known } from "../past";
import { lineColor, THEMES } from "../theme";
import { h, seldom } from "./dom";
import { firstPlot } from "./progress";
import { wordsOf } from "./words";

const HEIGHT = 150;
const MOST_POINTS = 1000;
const MOST_ROBOTS = 12;
const LINES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c7a00", "#777777", "#7a5ea8", "#999999"];

interface Curve {
  name: string;
  color: string;
  values: (number | null)[];
}

/** Differences per second of a sum. */
function rate(times: number[], values: (number | null)[]): (number | null)[] {
  return values.map((value, k) => (k && value !== null && values[k - 1] !== null ? (value - values[k - 1]!) / Math.max(times[k] - times[k - 1], 1e-9) : null));
}

export function plots(app: App): HTMLElement {
  const { model } = app;
  const past = model.measured;
  const list = h("div", {});
  const choose = h("select", { "aria-label": "Plot to add" });
  const add = h("button", { type: "button", onclick: () => show(choose.value) }, "Add plot");
  const shown = new Map<string, Plot>();
  let begun = false;

  const names = (): string[] => [
    ...[...model.series.keys()].map((name) => `team ${name}`),
    "links",
    ...(past.team.has("traffic_bytes") ? ["traffic"] : []),
    ...([...past.team.keys()].some((name) => name.startsWith("cpu_")) ? ["cpu"] : []),
    ...[...past.values.keys()].map((name) => `robot ${name}`),
  ];
  const titleOf = (name: string): string => {
    const [kind, what] = [name.split(" ")[0], name.slice(name.indexOf(" ") + 1)];
    if (kind === "team") return wordsOf(what);
    if (kind === "robot") return `${wordsOf(what)}, each robot`;
    return { traffic: "traffic [kB/s]", cpu: "processor by phase [s/s]" }[name] ?? name;
  };
  const curves = (name: string): { times: number[]; curves: Curve[] } => {
    const [kind, what] = [name.split(" ")[0], name.slice(name.indexOf(" ") + 1)];
    if (kind === "team") return { times: model.times, curves: [{ name: wordsOf(what), color: LINES[0], values: model.series.get(what) ?? [] }] };
    if (kind === "links") return linksOverTime();
    if (kind === "traffic") return { times: past.times, curves: [{ name: "sent", color: LINES[1], values: rate(past.times, past.team.get("traffic_bytes") ?? []).map((one) => one && one / 1000) }] };
    if (kind === "cpu")
      return {
        times: past.times,
        curves: [...past.team]
          .filter(([phase]) => phase.startsWith("cpu_") && phase !== "cpu_outside_s")
          .map(([phase, values], k) => ({ name: phase.slice(4, -2), color: LINES[k % LINES.length], values: rate(past.times, values) })),
      };
    const rows = past.values.get(what) ?? [];
    const robots = model.hello!.robots;
    const chosen = model.selected.size ? [...model.selected] : robots.map((_, i) => i);
    return {
      times: past.times,
      curves: chosen.slice(0, MOST_ROBOTS).map((i) => ({ name: robots[i].name, color: lineColor(i, robots.length, THEMES[app.theme]), values: rows.map((row) => known(row[i])) })),
    };
  };
  const linksOverTime = () => {
    const [times, values]: [number[], number[]] = [[], []];
    let up = 0;
    for (const [step, , , on] of model.linkChanges) {
      up += on ? 1 : -1;
      const time_s = step * model.hello!.step_s;
      if (times.at(-1) === time_s) values[values.length - 1] = up;
      else {
        if (values.length) {
          times.push(time_s - 1e-6);
          values.push(values.at(-1)!);
        }
        times.push(time_s);
        values.push(up);
      }
    }
    if (times.length) {
      times.push(Math.max(model.newestStep() * model.hello!.step_s, times.at(-1)! + 1e-6));
      values.push(up);
    }
    return { times, curves: [{ name: "links", color: LINES[2], values }] };
  };
  const show = (name: string): boolean => {
    if (!name || shown.has(name)) return false;
    const plot = new Plot(app, titleOf(name), () => {
      shown.delete(name);
      plot.element.remove();
      plot.chart?.destroy();
    });
    shown.set(name, plot);
    list.append(plot.element);
    plot.draw(curves(name));
    return true;
  };
  const update = () => {
    if (!model.hello || app.shell.right.hidden) return;
    const now = names();
    if (choose.dataset.names !== JSON.stringify(now)) {
      choose.dataset.names = JSON.stringify(now);
      const value = choose.value;
      choose.replaceChildren(...now.map((name) => h("option", { value: name }, titleOf(name))));
      if (now.includes(value)) choose.value = value;
    }
    if (!part.isConnected || !(part.closest("details")?.open ?? true)) return;
    for (const [name, plot] of shown) plot.draw(curves(name));
  };
  app.memory.add({ name: "plots", get: () => [...shown.keys()], set: (names: string[]) => (names.forEach((name) => show(name)), (begun = true)) });
  const updateSoon = seldom(update, 500);
  model.onChange(() => {
    if (!model.frame) return;
    const first = begun ? null : firstPlot(model);
    if (first) begun = show(first);
    updateSoon();
  });
  app.wishes.push(() => ({ details: app.shell.right.hidden || !model.complete ? [] : ["measures"] }));
  const part = h("div", { class: "plots" }, list, h("div", { class: "plots-add" }, choose, add));
  return part;
}

/** One plot; a line shows the time that the page shows, and a click goes to the time there. */
class Plot {
  readonly element: HTMLElement;
  chart: uPlot | null = null;
  private field = h("div", { class: "plot-field" });
  private key = h("p", { class: "plot-key quiet" });
  private made = "";

  constructor(
    private app: App,
    private title: string,
    close: () => void,
  ) {
    const shut = h("button", { type: "button", class: "icon-button small", "aria-label": `Remove ${title}`, title: "Remove", onclick: close }, "×");
    this.element = h("figure", { class: "plot", "aria-label": title }, h("figcaption", {}, title, shut), this.field, this.key);
    new ResizeObserver(() => this.chart?.setSize({ width: this.field.clientWidth, height: HEIGHT })).observe(this.field);
    this.field.addEventListener("click", () => {
      const left = this.chart?.cursor.left ?? -1;
      if (left >= 0) this.app.player?.seek(Math.round(this.chart!.posToVal(left, "x") / this.app.model.hello!.step_s));
    });
  }

  draw({ times, curves }: { times: number[]; curves: Curve[] }): void {
    const every = Math.max(1, Math.ceil(times.length / MOST_POINTS));
    const thin = <T>(row: T[]) => (every === 1 ? row : row.filter((_, k) => k % every === 0 || k === row.length - 1));
    const data = [thin(times), ...curves.map(({ values }) => thin(values))] as uPlot.AlignedData;
    const made = JSON.stringify([this.app.theme, curves.map(({ name, color }) => [name, color])]);
    if (made !== this.made || !this.chart) {
      this.made = made;
      this.make(curves, data);
    } else this.chart.setData(data);
    const at = curves.length === 1 ? [...curves[0].values].reverse().find((value) => value !== null) : undefined;
    this.element.dataset.value = at === undefined || at === null ? "" : String(at);
  }

  private make(curves: Curve[], data: uPlot.AlignedData): void {
    this.chart?.destroy();
    const style = getComputedStyle(document.documentElement);
    const [ink, edge] = [style.getPropertyValue("--quiet"), style.getPropertyValue("--edge")];
    const axis = { stroke: ink, grid: { stroke: edge, width: 1 }, ticks: { stroke: edge, width: 1, size: 4 }, font: "11px system-ui, sans-serif" };
    this.chart = new uPlot(
      {
        width: Math.max(this.field.clientWidth, 50),
        height: HEIGHT,
        padding: [8, 14, 0, 0],
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false } },
        scales: { x: { time: false } },
        axes: [
          { ...axis, size: 28, values: (_, ticks) => ticks.map((value) => `${value} s`) },
          { ...axis, size: 46 },
        ],
        series: [{}, ...curves.map(({ name, color }) => ({ label: name, stroke: color, width: 1.5, points: { show: false } }))],
        hooks: { draw: [(chart) => this.mark(chart)] },
      },
      data,
      this.field,
    );
    const canvas = this.field.querySelector("canvas");
    canvas?.setAttribute("role", "img");
    canvas?.setAttribute("aria-label", `${this.title}: curve over time`);
    this.key.replaceChildren(
      ...(curves.length < 2 ? [] : curves).map(({ name, color }) => {
        const swatch = h("span", { class: "swatch", "aria-hidden": "true" });
        swatch.style.background = color;
        return h("span", { class: "key" }, swatch, name);
      }),
    );
  }

  /** Draws the time that is shown, if it is in the past. */
  private mark(chart: uPlot): void {
    const { model } = this.app;
    if (model.shown === null) return;
    const x = chart.valToPos(model.shown * model.hello!.step_s, "x", true);
    const { ctx, bbox } = chart;
    ctx.save();
    ctx.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--bad");
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.restore();
  }
}
