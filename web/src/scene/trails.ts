/** Where the robots have been of late: a ring of line pieces, to which only new ones are added. */

import { BufferAttribute, BufferGeometry, Color, DynamicDrawUsage, GreaterDepth, Group, LineSegments, ShaderMaterial } from "three";
import type { Model } from "../model";
import { lineColor, type Colors } from "../theme";

/** Largest number of pieces of all robots together, and of one. */
const MOST = 40_000;
const EACH = 400;
/** Height of the lines over the ground [m], so that it does not hide them. */
const ABOVE_M = 0.1;

export class Trails {
  readonly group = new Group();
  private lines: LineSegments<BufferGeometry, ShaderMaterial>;
  /** The same lines where walls and hills hide them. */
  private hidden: LineSegments<BufferGeometry, ShaderMaterial>;
  private slots: number;
  private at = 0;
  private last = -1; // step of the newest piece's end
  private first = -1; // step of the oldest piece's begin
  private lastPose: Float32Array | null = null;
  private length_s = 0;
  private n: number;
  private used = 0; // slots that hold something

  constructor(
    private model: Model,
    theme: Colors,
  ) {
    const n = (this.n = model.hello!.robots.length);
    this.slots = Math.max(8, Math.min(EACH, Math.floor(MOST / Math.max(n, 1)))) + 1;
    const geometry = new BufferGeometry();
    const size = 2 * n * this.slots;
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(3 * size), 3).setUsage(DynamicDrawUsage));
    geometry.setAttribute("when", new BufferAttribute(new Float32Array(size).fill(-1), 1).setUsage(DynamicDrawUsage));
    const colors = new Uint8Array(3 * size);
    const color = new Color();
    for (let i = 0; i < n; i++) {
      color.set(lineColor(i, n, theme)).convertLinearToSRGB();
      const bytes = color.toArray().map((value) => Math.round(255 * value));
      for (let slot = 0; slot < this.slots; slot++) {
        colors.set(bytes, 6 * (slot * n + i));
        colors.set(bytes, 6 * (slot * n + i) + 3);
      }
    }
    geometry.setAttribute("tint", new BufferAttribute(colors, 3, true));
    this.lines = new LineSegments(
      geometry,
      new ShaderMaterial({
        transparent: true,
        depthTest: false,
        depthWrite: false,
        uniforms: { now: { value: 0 }, span: { value: 1 }, most: { value: 0.9 } },
        vertexShader: `
          attribute float when; attribute vec3 tint; varying float age; varying vec3 hue; uniform float now, span;
          void main() {
            age = when < 0.0 ? 2.0 : (now - when) / span; hue = tint;
            gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
          }`,
        fragmentShader: `
          varying float age; varying vec3 hue; uniform float most;
          void main() { if (age < 0.0 || age > 1.0) discard; gl_FragColor = vec4(hue, most * (1.0 - 0.83 * age)); }`,
      }),
    );
    geometry.setDrawRange(0, 0);
    const faint = this.lines.material.clone();
    Object.assign(faint, { depthTest: true, depthFunc: GreaterDepth });
    faint.uniforms = { ...this.lines.material.uniforms, most: { value: 0.25 } };
    this.hidden = new LineSegments(geometry, faint);
    for (const lines of [this.lines, this.hidden]) {
      lines.frustumCulled = false;
      lines.renderOrder = 15;
      this.group.add(lines);
    }
  }

  /** Brings them up to date; `deep`: walls and hills hide them. */
  update(length_s: number, altitude: (x: number, y: number) => number, deep: boolean): void {
    this.lines.material.depthTest = this.hidden.visible = deep;
    const { history, hello } = this.model;
    const step = this.model.step();
    const span = Math.max(length_s / hello!.step_s, 1);
    const stride = Math.max(1, Math.ceil(span / (this.slots - 1)));
    const uniforms = this.lines.material.uniforms;
    uniforms.now.value = step;
    uniforms.span.value = span;
    this.group.visible = length_s > 0;
    if (!history.length || length_s <= 0) return;
    const wanted = Math.max(step - span, history[0].step);
    const anew = length_s !== this.length_s || this.first > wanted + stride || this.last > step || this.last < wanted;
    if (anew) {
      this.length_s = length_s;
      const when = this.lines.geometry.getAttribute("when") as BufferAttribute;
      (when.array as Float32Array).fill(-1);
      when.addUpdateRange(0, when.array.length);
      when.needsUpdate = true;
      this.last = this.first = -1;
      this.lastPose = null;
      this.at = this.used = 0;
    }
    for (let k = this.model.indexAt(Math.max(this.last, wanted)); k < history.length && history[k].step <= step; k++) {
      const { step: when, pose } = history[k];
      if (!pose) break;
      if (this.lastPose && when < this.last + stride) continue;
      if (this.lastPose) this.add(this.last, this.lastPose, when, pose, altitude);
      else this.first = when;
      this.last = when;
      this.lastPose = pose;
    }
    const pose = this.model.poses();
    if (pose && this.lastPose && step > this.last) {
      this.add(this.last, this.lastPose, step, pose, altitude); // up to the present; the next piece replaces it
      this.at = (this.at + this.slots - 1) % this.slots;
    }
  }

  dispose(): void {
    this.lines.geometry.dispose();
    for (const lines of [this.lines, this.hidden]) lines.material.dispose();
  }

  private add(from: number, a: Float32Array, to: number, b: Float32Array, altitude: (x: number, y: number) => number): void {
    const geometry = this.lines.geometry;
    const [position, when] = [geometry.getAttribute("position"), geometry.getAttribute("when")] as BufferAttribute[];
    const [places, times] = [position.array as Float32Array, when.array as Float32Array];
    const begin = 2 * this.n * this.at;
    for (let i = 0; i < this.n; i++) {
      const at = begin + 2 * i;
      const [x0, y0, x1, y1] = [a[3 * i], a[3 * i + 1], b[3 * i], b[3 * i + 1]];
      places.set([x0, y0, altitude(x0, y0) + ABOVE_M, x1, y1, altitude(x1, y1) + ABOVE_M], 3 * at);
      times[at] = from;
      times[at + 1] = to;
    }
    position.addUpdateRange(3 * begin, 6 * this.n);
    when.addUpdateRange(begin, 2 * this.n);
    position.needsUpdate = when.needsUpdate = true;
    this.used = Math.max(this.used, this.at + 1);
    geometry.setDrawRange(0, 2 * this.n * this.used);
    this.at = (this.at + 1) % this.slots;
    if (this.first < 0) this.first = from;
  }
}
