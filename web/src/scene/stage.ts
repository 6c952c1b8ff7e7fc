/** The scene: what of the model is shown, in the world and over it. */

import { DirectionalLight, HemisphereLight } from "three";
import type { App, Wish } from "../app";
import { altitudes, LAYERS, type Context, type LayerInfo } from "../layers";
import { drawnLayers, marksOf } from "../drawn";
import { THEMES } from "../theme";
import { h } from "../ui/dom";
import { CellMesh } from "./cells";
import { FieldMesh } from "./field";
import { altitudeIn, GroundMesh } from "./ground";
import { hiding, type Hides } from "./hiding";
import { marks } from "./marks";
import { Pen } from "./overlay";
import { pointer } from "./pointer";
import { Robots, SYMBOL } from "./robots";
import { Trails } from "./trails";
import { View } from "./view";
import { WallMesh } from "./walls";

export class Stage {
  readonly canvas = h("canvas", { tabindex: "0", "aria-label": "The world and its robots", role: "img" });
  readonly element: HTMLElement;
  readonly view: View;
  readonly pen: Pen;
  /** Names of the layers that are shown. */
  readonly shown = new Set<string>();
  /** Others that draw over the scene: measuring, editing. */
  readonly overlays: ((pen: Pen) => void)[] = [];
  trail_s = 20;
  robots: Robots | null = null;
  trails: Trails | null = null;
  private meshes = new Map<string, CellMesh>();
  private fields = new Map<string, FieldMesh>();
  private ground: GroundMesh | null = null;
  private draped = 0; // counts the states of the ground
  private walls: WallMesh | null = null;

  constructor(
    private app: App,
    place: (element: HTMLElement) => void,
  ) {
    const over = h("canvas", { class: "over", "aria-hidden": "true" });
    this.element = h("main", { class: "stage" }, this.canvas, over);
    place(this.element); // it has a size only in the page
    this.view = new View(this.canvas);
    this.pen = new Pen(this.view, over);
    this.pen.altitude = (x, y) => this.altitude(x, y);
    this.view.onDraw.push(() => this.prepare());
    this.view.afterDraw.push(() => this.draw());
    pointer(this.view);
    this.view.background(THEMES[this.app.theme].sky);
    const sun = new DirectionalLight("#ffffff", 2);
    sun.position.set(-1, -1.6, 2);
    this.view.scene.add(new HemisphereLight("#ffffff", "#8a8f96", 1.6), sun);
  }

  /** Altitude of the ground [m]. */
  altitude(x: number, y: number): number {
    return this.ground ? altitudeIn(this.ground.layer, x, y) : 0;
  }

  /** The layers that this run has. */
  get layers(): LayerInfo[] {
    const { hello } = this.app.model;
    const told = (name: string) => !hello?.details || hello.details.includes(name);
    if (!hello) return [];
    return [...LAYERS, ...drawnLayers(hello)].filter((layer) => (layer.there?.(hello) ?? true) && (layer.details ?? []).every(told));
  }

  get context(): Context {
    const { model } = this.app;
    const radius = (i: number) => Math.max((this.robots?.radius[i] ?? 0) / this.view.pixel_m, SYMBOL);
    return { model, hello: model.hello!, colors: THEMES[this.app.theme], span_s: this.span_s, radius, deep: this.view.perspective };
  }

  /** Length of the scales of time [s]: that of the run; while it lasts, in whole tens. */
  get span_s(): number {
    const { model } = this.app;
    const step_s = model.hello?.step_s ?? 0.1;
    const now = Math.max(model.newestStep(), 1) * step_s;
    return model.frame && model.frame.status !== null ? now : 10 * Math.ceil(now / 10);
  }

  /** What the shown layers need of the server. */
  wish(): Wish {
    const shown = this.layers.filter((layer) => this.shown.has(layer.name));
    return {
      layers: shown.flatMap((layer) => [...(layer.cells?.(this.app.model) ?? []), ...(layer.needs ?? [])]),
      details: shown.flatMap((layer) => layer.details ?? []),
    };
  }

  show(name: string, on: boolean): void {
    if (on) this.shown.add(name);
    else this.shown.delete(name);
    this.app.watch();
    this.app.model.changed();
  }

  /** Begins anew: the server has described a run. */
  begin(): void {
    const { model } = this.app;
    if (!this.robots) for (const layer of this.layers) if (layer.on?.(model.hello!)) this.shown.add(layer.name);
    this.restyle();
  }

  /** Makes all anew: the theme or the run has changed. */
  restyle(): void {
    this.view.background(THEMES[this.app.theme].sky);
    for (const mesh of [...this.meshes.values(), ...this.fields.values()]) this.remove(mesh);
    this.meshes.clear();
    this.fields.clear();
    for (const one of [this.ground, this.walls]) if (one) this.remove(one);
    this.ground = this.walls = null;
    for (const old of [this.robots?.group, this.trails?.group]) if (old) this.view.scene.remove(old);
    this.robots?.dispose();
    this.trails?.dispose();
    if (!this.app.model.hello) return;
    this.robots = new Robots(this.app.model);
    this.trails = new Trails(this.app.model, THEMES[this.app.theme]);
    this.view.scene.add(this.trails.group, this.robots.group);
  }

  /** Brings the scene up to date; called before each drawing. */
  private prepare(): void {
    const { model } = this.app;
    if (!model.hello) return;
    const altitude = (x: number, y: number) => this.altitude(x, y);
    this.landscape();
    const used = new Set<string>();
    for (const info of this.layers) {
      if (!info.style || !this.shown.has(info.name)) continue;
      for (const name of info.cells?.(model) ?? []) {
        const layer = model.layers.get(name);
        if (!layer) continue;
        const key = `${info.name} ${name}`;
        used.add(key);
        let mesh = this.meshes.get(key);
        if (mesh && mesh.layer !== layer) {
          this.remove(mesh);
          mesh = undefined;
        }
        if (!mesh) {
          mesh = new CellMesh(layer, info.style(this.context), info.order ?? 1);
          this.meshes.set(key, mesh);
          this.view.scene.add(mesh.mesh);
        }
        if (mesh.draped !== this.draped) {
          mesh.drape(this.ground ? altitude : null);
          mesh.draped = this.draped;
        }
        mesh.material.depthTest = this.view.perspective; // walls and hills hide what is behind them
        for (const [value, number] of Object.entries(info.values?.(this.context) ?? {})) mesh.material.uniforms[value].value = number;
        mesh.update(this.view.renderer, model.hello.at_end?.includes(name) ? model.newestStep() : model.step());
      }
    }
    for (const [key, mesh] of this.meshes) {
      if (used.has(key)) continue;
      this.remove(mesh);
      this.meshes.delete(key);
    }
    this.showFields();
    this.robots?.update(this.view, altitude);
    this.trails?.update(this.shown.has("trails") ? this.trail_s : 0, altitude, this.view.perspective);
  }

  /** Brings the fields that are drawn up to date. */
  private showFields(): void {
    const { model } = this.app;
    const used = new Set<string>();
    for (const { name } of drawnLayers(model.hello!)) {
      if (!this.shown.has(name)) continue;
      marksOf(this.context, name).forEach((mark, k) => {
        if (mark.kind !== "field") return;
        const key = `${name} ${k}`;
        used.add(key);
        const known = this.fields.get(key);
        if (known && (known.mark === mark || known.take(mark))) return;
        if (known) this.remove(known);
        const field = new FieldMesh(mark, model.hello!.world.workspace_m);
        this.fields.set(key, field);
        this.view.scene.add(field.mesh);
      });
    }
    for (const [key, field] of this.fields) {
      if (used.has(key)) continue;
      this.remove(field);
      this.fields.delete(key);
    }
  }

  /** Brings the ground, and the walls of the perspective view, up to date. */
  private landscape(): void {
    const { model } = this.app;
    const layer = this.shown.has("ground") ? model.layers.get("ground") : undefined;
    if (this.ground && this.ground.layer !== layer) {
      this.remove(this.ground);
      this.ground = null;
      this.draped++;
    }
    if (layer && !this.ground) {
      this.ground = new GroundMesh(layer);
      this.view.scene.add(this.ground.mesh);
    }
    if (this.ground?.update(model)) this.draped++;
    const truth = this.view.perspective && this.shown.has("truth") ? model.layers.get("truth") : undefined;
    if (this.walls && (this.walls.layer !== truth || this.walls.version !== truth.version)) {
      this.remove(this.walls);
      this.walls = null;
    }
    if (truth && !this.walls) {
      const height = model.hello!.world.wall_height_m;
      this.walls = new WallMesh(truth, height, THEMES[this.app.theme].link, (x, y) => this.altitude(x, y));
      this.view.scene.add(this.walls.mesh);
    }
  }

  private remove(mesh: CellMesh | FieldMesh | GroundMesh | WallMesh): void {
    this.view.scene.remove(mesh.mesh);
    mesh.dispose();
  }

  /** Draws over the scene; called after each drawing. */
  private draw(): void {
    this.pen.begin();
    this.paint(this.pen);
  }

  /** What the walls and hills that are shown hide; null: nothing. */
  private hides(): Hides | null {
    const { model } = this.app;
    const [eye, truth] = [this.view.eye, model.layers.get("truth")];
    if (!eye || !truth) return null;
    const height = this.shown.has("truth") ? model.hello!.world.wall_height_m : 0;
    const top = this.ground ? altitudes(model)[1] : 0;
    return hiding(eye, truth, height, (x, y) => this.altitude(x, y), top, this.ground !== null);
  }

  /** Draws lines, marks and words with a pen. */
  paint(pen: Pen): void {
    if (!this.app.model.hello || !this.robots) return;
    const context = this.context;
    pen.hides = this.hides();
    const drawn = this.layers.filter((layer) => layer.draw && this.shown.has(layer.name));
    for (const layer of drawn) if (layer.below) layer.draw!(pen, context);
    if (drawn.some((layer) => layer.below)) this.robots.wipe(pen);
    for (const layer of drawn) if (!layer.below && !layer.words) layer.draw!(pen, context);
    marks(pen, context);
    for (const layer of drawn) if (layer.words) layer.draw!(pen, context); // no line crosses them
    for (const overlay of this.overlays) overlay(pen);
  }
}
