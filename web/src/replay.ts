/** A recorded run: the page has all of it, plays it and goes to any step by itself. */

import { known } from "./past";
import { Changes } from "./changes";
import type { EventInfo } from "./messages";
import type { Model } from "./model";
import type { LinkChange, Poses } from "./past";
import type { Player } from "./player";
import { Recorded } from "./recorded";
import { Team } from "./team";
import type { Arrays, Header, Numbers } from "./wire";

/** Speed that "as fast as possible" means here. */
const FASTEST = 1000;

export class Replay implements Player {
  readonly ends = false;
  readonly looksBack = false;
  readonly stepsLeft = 0;
  playing = false;
  factor: number | null = 1;
  private steps: Numbers = new Int32Array();
  private links: Numbers = new Int32Array();
  private tags: Numbers = new Float32Array();
  private told: unknown[] = [];
  /** Changes of links that are in the model. */
  private linksTaken = 0;
  /** Poses and estimates, as far as they have come. */
  private rows = new Map<string, Rows>();
  private at = -1;
  /** Step between steps, while it plays. */
  private exact = 0;
  private before_ms = 0;

  private recorded: Recorded;
  private team: Team;

  constructor(private model: Model) {
    this.recorded = new Recorded(model);
    this.team = new Team(model);
    model.prepare = () => this.follow();
  }

  get locked(): boolean {
    return !this.steps.length;
  }

  /** Takes in the recording, which stands still at its beginning, or in a notebook at its end. */
  begin(header: Header, arrays: Arrays): void {
    const { model } = this;
    const data = (name: string) => arrays.get(name)?.data ?? new Int32Array();
    [this.steps, this.links, this.tags] = [data("step"), data("links"), data("tag")];
    this.told = (header.tags ?? []) as unknown[];
    model.changes = [...arrays.keys()]
      .filter((name) => name.startsWith("changed:"))
      .map((name) => name.slice(8))
      .map((name) => new Changes(model, name).add(data(`changed:${name}`), data(`before:${name}`), data(`after:${name}`)));
    this.linksTaken = 0;
    const size = 3 * model.hello!.robots.length;
    this.rows = new Map(["pose", "estimate"].map((name) => [name, new Rows(this.steps.length, size)]));
    model.history = Array.from(this.steps, (step, k) => new Pose(this.rows.get("pose")!, step, k));
    model.events = header.events as EventInfo[];
    model.linkChanges = Array.from({ length: this.links.length / 4 }, (_, k) => [...this.links.subarray(4 * k, 4 * k + 4)] as unknown as LinkChange);
    model.times = [...data("time_s")];
    model.series = new Map(
      [...arrays].filter(([name]) => name.startsWith("team:")).map(([name, { data }]) => [
        name.slice(5),
        Array.from(data, known),
      ]),
    );
    const step = Math.max(this.steps.at(-1) ?? 0, Math.round((model.times.at(-1) ?? 0) / model.hello!.step_s));
    const [status, frame] = [header.status as string | null, 1];
    const time_s = step * model.hello!.step_s;
    model.frame = { type: "frame", frame, step, time_s, status, playing: false, factor: 1, events: [], links: [] };
    this.at = -1;
    const wanted = new URLSearchParams(location.hash.slice(1)).get("t");
    this.seek(wanted === null && model.hello!.shows_end ? step : Math.round(Number(wanted ?? 0) / model.hello!.step_s));
  }

  /** Takes in what the run recorded besides its tables; whether it was something of this kind. */
  takes(header: Header, arrays: Arrays): boolean {
    if (this.team.takes(header, arrays)) return true;
    if (header.type !== "changes") return this.recorded.takes(header, arrays);
    const [changed, before, after] = ["changed", "before", "after"].map((name) => arrays.get(name)!.data);
    this.model.changes.push(new Changes(this.model, header.layer as string).add(changed, before, after));
    this.model.changed();
    return true;
  }

  /** Takes in poses or estimates of some time. */
  takePoses(header: Header, arrays: Arrays): void {
    if (header.as) this.rows.set(header.name as string, this.rows.get(header.as as string)!);
    const rows = this.rows.get(header.name as string)!;
    const waits = !rows.pose(this.model.indexAt(this.model.step()));
    if (!header.as) rows.take(header.first as number, arrays.get("poses")!.data as Float32Array);
    if (!(waits && rows.pose(this.model.indexAt(this.model.step()))) && !rows.complete) return;
    this.at = -1;
    this.model.changed();
  }

  play(): void {
    if (this.playing || this.locked) return;
    if (this.model.step() >= this.model.newestStep()) this.seek(0);
    this.playing = true;
    this.exact = this.model.step();
    this.before_ms = performance.now();
    requestAnimationFrame((now) => this.tick(now));
    this.model.changed();
  }

  pause(): void {
    this.playing = false;
    this.model.changed();
  }

  step(count: number): void {
    this.playing = false;
    const k = this.model.indexAt(this.model.step()) + count;
    this.seek(this.steps[Math.min(Math.max(k, 0), this.steps.length - 1)]);
  }

  speed(factor: number | null): void {
    this.factor = factor;
    this.model.changed();
  }

  end(): void {}

  seek(step: number | null): void {
    const newest = this.model.newestStep();
    this.model.shown = Math.min(Math.max(step ?? newest, this.steps[0] ?? 0), newest);
    this.exact = this.model.shown;
    this.model.changed();
  }

  private tick(now: number): void {
    if (!this.playing) return;
    const passed_s = Math.min(now - this.before_ms, 250) / 1000; // a page that was hidden goes on where it was
    this.before_ms = now;
    if (Math.floor(this.exact) !== this.model.shown) this.exact = this.model.step(); // somebody has moved the time
    const newest = this.model.newestStep();
    this.exact = Math.min(this.exact + (passed_s * (this.factor ?? FASTEST)) / this.model.hello!.step_s, newest);
    this.playing = this.exact < newest;
    if (Math.floor(this.exact) !== this.model.shown || !this.playing) {
      this.model.shown = Math.floor(this.exact);
      this.model.changed();
    }
    if (this.playing) requestAnimationFrame((next) => this.tick(next));
  }

  /** Brings what the model says of now to the step that is shown. */
  private follow(): void {
    const { model } = this;
    if (this.locked || model.shown === null) return;
    this.recorded.follow(model.shown);
    this.team.follow(model.shown);
    if (model.shown === this.at && !model.changes.some((one) => one.stale)) return;
    this.at = model.shown;
    const [k, n] = [model.indexAt(this.at), model.hello!.robots.length];
    for (const [name, rows] of this.rows) {
      const data = rows.pose(k);
      if (data) model.arrays.set(name, { data, shape: [n, 3] });
      else model.arrays.delete(name);
    }
    this.followLinks();
    this.followTags();
    for (const one of model.changes) one.follow(this.at);
  }

  private followLinks(): void {
    const { model, links, at } = this;
    if (this.linksTaken && links[4 * this.linksTaken - 4] > at) {
      model.links.clear();
      this.linksTaken = 0;
    }
    for (; 4 * this.linksTaken < links.length && links[4 * this.linksTaken] <= at; this.linksTaken++) {
      const [, i, j, up] = links.subarray(4 * this.linksTaken, 4 * this.linksTaken + 4);
      if (up) model.links.add(`${i} ${j}`);
      else model.links.delete(`${i} ${j}`);
    }
    const pairs = Int32Array.from([...model.links].flatMap((pair) => pair.split(" ").map(Number)));
    model.arrays.set("link", { data: pairs, shape: [pairs.length / 2, 2] });
    model.arrays.set("link_chance", { data: new Float32Array(pairs.length / 2).fill(1), shape: [pairs.length / 2] });
  }

  private followTags(): void {
    let count = 0;
    while (3 * count < this.tags.length && this.tags[3 * count] <= this.at) count++;
    const places = new Float32Array(2 * count);
    for (let k = 0; k < count; k++) places.set([this.tags[3 * k + 1], this.tags[3 * k + 2]], 2 * k);
    this.model.arrays.set("tag", { data: places, shape: [count, 2] });
    this.model.frame!.tags = this.told.slice(0, count);
  }
}

/** Recorded poses, which come block by block from the first step on. */
class Rows {
  private data = new Float32Array();
  private there = 0;

  constructor(
    private count: number,
    private size: number,
  ) {}

  pose(k: number): Float32Array | null {
    return k < this.there ? this.data.subarray(k * this.size, (k + 1) * this.size) : null;
  }

  get complete(): boolean {
    return this.there === this.count;
  }

  take(first: number, poses: Float32Array): void {
    if (!this.data.length) this.data = new Float32Array(this.count * this.size);
    this.data.set(poses, first * this.size);
    this.there = first + poses.length / this.size;
  }
}

class Pose implements Poses {
  constructor(
    private rows: Rows,
    readonly step: number,
    private k: number,
  ) {}

  get pose(): Float32Array | null {
    return this.rows.pose(this.k);
  }
}
