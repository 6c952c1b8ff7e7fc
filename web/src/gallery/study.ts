/** A study: its runs as a table that fills, and a metric over its vectors. */

import uPlot from "uplot";
import type { App } from "../app";
import type { Header } from "../wire";
import { h } from "../ui/dom";
import { head, opened, type Page } from "./shelf";

interface Run {
  i: number;
  run: string;
  vector: number;
  iteration: number;
  values: string[];
  state: "waiting" | "running" | "done" | "failed";
  status?: string;
  reason?: string;
  metrics?: Record<string, number | boolean>;
}

interface Progress {
  total: number;
  done: number;
  failed: number;
  to_go_s: number | null;
  remarks: string[];
}

const MOST_LINES = 1000;
const STATES = ["waiting", "running", "done", "failed"] as const;
const MARKS = { waiting: "○", running: "◐", done: "●", failed: "✕" };
const COLORS = {
  light: ["#0072b2", "#d55e00", "#007a59", "#b0568a", "#8c6a00", "#3b7ea1", "#666666"],
  dark: ["#56b4e9", "#ff8a3c", "#4fd1aa", "#e39bc3", "#f0c24b", "#9fb8c8", "#bbbbbb"],
};

export class Study implements Page {
  readonly element: HTMLElement;
  private runs: Run[];
  private parameters: string[];
  private bar = h("progress", { "aria-label": "Runs that have ended" });
  private counts = h("p", { class: "counts", role: "status" });
  private metric: HTMLSelectElement;
  private filter: HTMLSelectElement;
  private body = h("tbody");
  private value = h("th", { scope: "col", class: "number" });
  private lines = new Map<number, HTMLTableRowElement>();
  private chart = h("div", { class: "chart", role: "img" });
  private key = h("ul", { class: "curve-key", role: "list" });
  private plot: uPlot | null = null;
  private cut = h("p", { class: "quiet" });
  private progress: Progress | null = null;
  private over: boolean;
  private workers: number | null;
  private edits: boolean;
  private drawn = 0;
  private x: string | null;
  private line: string | null;

  constructor(
    private app: App,
    hello: Header,
  ) {
    this.runs = hello.runs as Run[];
    this.parameters = hello.parameters as string[];
    this.over = Boolean(hello.over);
    this.workers = hello.workers as number | null;
    this.edits = Boolean(hello.edits);
    this.x = hello.x as string | null;
    this.line = hello.line as string | null;
    document.title = `${hello.name} – Covey`;
    this.metric = h(
      "select",
      { id: "study-metric", onchange: () => this.show() },
      ...(hello.metrics as string[]).map((name) => h("option", { value: name }, name)),
    );
    this.filter = h(
      "select",
      { id: "study-filter", onchange: () => this.fill() },
      ...["all", ...STATES].map((state) => h("option", { value: state }, state)),
    );
    const heads = ["Vector", "Iteration", ...this.parameters.map(short)].map((head, k) => h("th", { scope: "col", class: k < 2 ? "number" : null }, head));
    const table = h(
      "table",
      { "aria-label": "Runs" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "State"), this.value, h("td"), ...heads)),
      this.body,
    );
    this.element = h(
      "div",
      { class: "study" },
      head(app, String(hello.name), String(hello.description).split("\n")[0]),
      h("div", { class: "progress" }, this.bar, this.counts),
      h(
        "section",
        { "aria-labelledby": "study-curve" },
        h("div", { class: "row" }, h("h2", { id: "study-curve" }, "Curve"), h("label", { for: "study-metric" }, "Metric"), this.metric),
        this.chart,
        this.key,
      ),
      h(
        "section",
        { "aria-labelledby": "study-runs" },
        h("div", { class: "row" }, h("h2", { id: "study-runs" }, "Runs"), h("label", { for: "study-filter" }, "Show"), this.filter),
        h("div", { class: "table", tabindex: "0", role: "group", "aria-labelledby": "study-runs" }, table),
        this.cut,
      ),
    );
    this.progress = (hello.progress as Progress) ?? null;
    new ResizeObserver(() => this.show()).observe(this.chart);
    new MutationObserver(() => this.show()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    this.fill();
    this.count();
  }

  take(header: Header): void {
    if (header.type !== "study") return;
    for (const run of header.runs as Run[]) {
      this.runs[run.i] = run;
      const line = this.lines.get(run.i);
      if (line && this.chosen(run)) line.replaceWith(this.row(run));
      else if (line) {
        line.remove();
        this.lines.delete(run.i);
      } else if (this.chosen(run)) this.later();
    }
    if (header.progress) this.progress = header.progress as Progress;
    if (header.over) this.over = true;
    this.count();
    if ((header.runs as Run[]).some((run) => run.metrics)) this.show();
  }

  private later(): void {
    cancelAnimationFrame(this.drawn);
    this.drawn = requestAnimationFrame(() => this.fill());
  }

  private chosen(run: Run): boolean {
    return this.filter.value === "all" || run.state === this.filter.value;
  }

  private fill(): void {
    const chosen = this.runs.filter((run) => this.chosen(run));
    this.lines.clear();
    this.body.replaceChildren(...chosen.slice(0, MOST_LINES).map((run) => this.row(run)));
    this.cut.textContent = chosen.length > MOST_LINES ? `and ${chosen.length - MOST_LINES} more` : "";
  }

  private row(run: Run): HTMLTableRowElement {
    const value = run.metrics?.[this.metric.value];
    const ended = run.state === "done" || run.state === "failed";
    const word = ended ? "Open" : "Watch";
    const open = h("button", { type: "button", "aria-label": `${word} vector ${run.vector}, iteration ${run.iteration}`, onclick: () => this.open(run) }, word);
    const state = h("span", { class: "state", "data-state": run.state }, `${MARKS[run.state]} ${run.state === "done" ? run.status : run.state}`);
    const line = h(
      "tr",
      {},
      h("td", {}, state, run.reason ? h("p", { class: "bad" }, run.reason) : null),
      h("td", { class: "number" }, typeof value === "number" ? shown(value) : ended ? "–" : ""),
      h("td", {}, (ended || run.state === "running") && this.edits ? open : null),
      h("td", { class: "number" }, String(run.vector)),
      h("td", { class: "number" }, String(run.iteration)),
      ...run.values.map((text) => h("td", {}, text)),
    );
    this.lines.set(run.i, line);
    return line;
  }

  private open(run: Run): void {
    this.app.say("Opening …");
    this.app.connection!.ask({ type: "open", run: run.run }).then(
      (answer) => location.assign(opened(answer.url as string, "study")),
      (error: Error) => this.app.say(error.message),
    );
  }

  private count(): void {
    const { progress } = this;
    const running = this.runs.filter((run) => run.state === "running").length;
    const parts = progress ? [`${progress.done} of ${progress.total} runs have ended`] : [];
    if (progress?.failed) parts.push(`${progress.failed} failed`);
    if (!this.over) {
      parts.push(`${running} running`);
      if (this.workers !== null) parts.push(`${this.workers} ${this.workers === 1 ? "worker" : "workers"}`);
      if (progress?.to_go_s) parts.push(`about ${clock(progress.to_go_s)} to go`);
    }
    parts.push(...(progress?.remarks ?? []));
    const text = parts.join(" · ");
    if (this.counts.textContent !== text) this.counts.textContent = text;
    this.bar.max = progress?.total || 1;
    this.bar.value = progress?.done ?? 0;
  }

  /** Draws the chosen metric: the median of each setting, over numbers as a line, and each run as a circle. */
  private show(): void {
    const name = this.metric.value;
    this.value.textContent = name;
    for (const [i, line] of this.lines) {
      const value = this.runs[i].metrics?.[name];
      if (this.runs[i].metrics) line.children[1].textContent = typeof value === "number" ? shown(value) : "–";
    }
    const { xs, label, names, series } = this.curves(name);
    const style = getComputedStyle(document.documentElement);
    const [ink, edge] = [style.getPropertyValue("--quiet").trim(), style.getPropertyValue("--edge").trim()];
    const axis = { stroke: ink, grid: { stroke: edge, width: 1 }, ticks: { stroke: edge, width: 1 } };
    const colors = COLORS[this.app.theme];
    const whole = xs.every(Number.isInteger);
    const letters = Math.max(4, Math.floor(this.chart.clientWidth / (8 * (names?.length || 1))));
    const named = (text: string) => (text.length > letters ? `${text.slice(0, letters - 1)}…` : text);
    const ticks = names ? { incrs: [1], values: (_: uPlot, splits: number[]) => splits.map((at) => named(names[at] ?? "")) } : {};
    const count = this.runs.filter((run) => typeof run.metrics?.[name] === "number").length;
    this.key.replaceChildren(
      ...series
        .filter(({ points }) => !points)
        .map(({ title }, k) => {
          const swatch = h("span", { class: "swatch" });
          swatch.style.background = colors[k % colors.length];
          return h("li", {}, swatch, title);
        }),
      h("li", {}, !count ? "no run has a value so far; choose another metric" : names ? "dot: median, circle: each run" : "line: median, circle: each run"),
    );
    this.plot?.destroy();
    const width = this.chart.clientWidth;
    this.chart.setAttribute("aria-label", `${name} over ${label}: ${count} of ${this.runs.length} runs have a value. The table below lists them.`);
    if (!width) return;
    this.plot = new uPlot(
      {
        width,
        height: 240,
        scales: { x: { time: false, range: (_, low, high) => [low - (names ? 0.5 : 0.05 * (high - low || 1)), high + (names ? 0.5 : 0.05 * (high - low || 1))] } },
        axes: [{ ...axis, label: short(label), labelSize: 20, ...(whole ? { incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] } : {}), ...ticks }, { ...axis, size: 64 }],
        legend: { show: false },
        cursor: { show: false },
        series: [
          {},
          ...series.map(({ title, points }, k) => {
            const stroke = colors[Math.floor(k / 2) % colors.length];
            return points
              ? { label: title, stroke, width: 0, paths: noLine, points: { show: true, size: 7, fill: "transparent", stroke } }
              : { label: title, stroke, width: 2, spanGaps: true, ...(names ? { paths: noLine } : {}), points: { show: true, size: names ? 10 : 5, fill: stroke } };
          }),
        ],
      },
      [xs, ...series.map(({ values }) => values)] as uPlot.AlignedData,
      this.chart,
    );
  }

  /** Over a parameter of numbers, or over `names`, which no line joins: those of another parameter, or the vectors. */
  private curves(name: string): { xs: number[]; label: string; names: string[] | null; series: { title: string; points: boolean; values: (number | null)[] }[] } {
    const at = this.x !== null ? this.parameters.indexOf(this.x) : this.parameters.length === 1 ? 0 : -1;
    const numeric = at >= 0 && this.runs.every((run) => run.values[at] !== "" && Number.isFinite(Number(run.values[at])));
    const each = at >= 0 ? [...new Set(this.runs.map((run) => run.values[at]))] : [...new Set(this.runs.map((run) => run.vector))].sort((a, b) => a - b).map(String);
    const names = numeric ? null : each;
    const lines = this.line === null ? -1 : this.parameters.indexOf(this.line);
    const groups = new Map<string, Map<number, number[]>>();
    for (const run of this.runs) {
      const value = run.metrics?.[name];
      const x = numeric ? Number(run.values[at]) : each.indexOf(at >= 0 ? run.values[at] : String(run.vector));
      const key = at >= 0 && lines >= 0 && lines !== at ? run.values[lines] : "";
      const group = groups.get(key) ?? new Map<number, number[]>();
      groups.set(key, group);
      const found = group.get(x) ?? [];
      group.set(x, found);
      if (typeof value === "number") found.push(value);
    }
    const places = [...new Set([...groups.values()].flatMap((group) => [...group.keys()]))].sort((a, b) => a - b);
    const deepest = Math.max(1, ...[...groups.values()].flatMap((group) => [...group.values()].map((found) => found.length)));
    const xs = places.flatMap((x) => new Array<number>(deepest).fill(x));
    const series = [...groups].flatMap(([key, group]) => {
      const each = places.flatMap((x) => Array.from({ length: deepest }, (_, k) => group.get(x)?.[k] ?? null));
      const middle = places.flatMap((x) => Array.from({ length: deepest }, (_, k) => (k === 0 ? median(group.get(x) ?? []) : null)));
      return [
        { title: key || name, points: false, values: middle },
        { title: key ? `${key}, each run` : "each run", points: true, values: each },
      ];
    });
    return { xs, label: at >= 0 ? this.parameters[at] : "vector", names, series };
  }
}

const noLine = (): null => null;

function short(path: string): string {
  return path.split(".").slice(-2).join(".");
}

function median(values: number[]): number | null {
  if (!values.length) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function shown(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toPrecision(5).replace(/\.?0+$/, "");
}

function clock(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  return whole < 3600 ? `${Math.floor(whole / 60)} min ${whole % 60} s` : `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
