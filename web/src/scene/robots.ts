/** The robots: their true bodies, and symbols that show place and heading however far away one looks from. */

import {
  BufferAttribute,
  BufferGeometry,
  Color,
  CylinderGeometry,
  DynamicDrawUsage,
  Group,
  InstancedMesh,
  Matrix4,
  Mesh,
  MeshLambertMaterial,
  ShaderMaterial,
} from "three";
import type { Model } from "../model";
import { robotColor } from "../theme";
import type { Pen } from "./overlay";
import type { View } from "./view";

export const FLAGS = { halted: 1, gone: 2, mute: 4 };
/** Colour of the edge of bodies and symbols; it separates them from light and dark. */
const EDGE = "#141b22";
/** Least radius of a symbol [pixel]. */
export const SYMBOL = 7;

export class Robots {
  readonly group = new Group();
  /** Radius of each robot [m]. */
  readonly radius: number[];
  private symbols: Sprites;
  private bodies: Sprites;
  private edges: Sprites;
  private solids: InstancedMesh<CylinderGeometry, MeshLambertMaterial>;
  private discs: [number, number, number, number][];

  constructor(private model: Model) {
    const robots = model.hello!.robots;
    const n = robots.length;
    this.radius = robots.map((robot) => Math.max(...robot.discs.map(([x, y, r]) => Math.hypot(x, y) + r)));
    this.discs = robots.flatMap((robot, i) => robot.discs.map((d) => [i, ...d] as [number, number, number, number]));
    this.edges = new Sprites(this.discs.length, 20, DISC, () => EDGE);
    this.bodies = new Sprites(this.discs.length, 21, DISC, (k) => robotColor(this.discs[k][0], n));
    this.symbols = new Sprites(n, 22, SYMBOLS, (i) => robotColor(i, n));
    const cylinder = new CylinderGeometry(1, 1, 1, 20).rotateX(Math.PI / 2).translate(0, 0, 0.5);
    this.solids = new InstancedMesh(cylinder, new MeshLambertMaterial(), this.discs.length);
    this.solids.frustumCulled = false;
    this.discs.forEach(([i], k) => this.solids.setColorAt(k, new Color(robotColor(i, n))));
    this.group.add(this.solids, this.edges.mesh, this.bodies.mesh, this.symbols.mesh);
  }

  /** Brings them up to date; `altitude` is that of the ground [m]. */
  update(view: View, altitude: (x: number, y: number) => number): void {
    const pose = this.model.poses();
    this.group.visible = pose !== null;
    if (!pose) return;
    const flags = this.model.arrays.get("flags")?.data;
    const gone = (i: number): boolean => Boolean((flags?.[i] ?? 0) & FLAGS.gone);
    const at = new Matrix4();
    const deep = view.perspective;
    const small = this.radius.map((radius) => radius < SYMBOL * view.pixel_m);
    this.solids.visible = deep;
    this.edges.mesh.visible = this.bodies.mesh.visible = !deep && !small.every(Boolean); // symbols hide small bodies
    const edge = view.pixel_m;
    const [cos, sin, z] = [0, 1, 2].map(() => new Float64Array(this.radius.length));
    this.radius.forEach((radius, i) => {
      const [x, y, heading] = [pose[3 * i], pose[3 * i + 1], pose[3 * i + 2]];
      cos[i] = Math.cos(heading);
      sin[i] = Math.sin(heading);
      z[i] = altitude(x, y);
      const size = gone(i) ? 0 : small[i] ? (deep ? 1.4 : 1) * SYMBOL * view.pixel_m : radius;
      this.symbols.set(i, x, y, z[i] + (deep ? 0.85 * radius : 0), size, cos[i], sin[i], small[i] ? 1 : 0);
    });
    this.symbols.changed();
    if (!deep && !this.bodies.mesh.visible) return;
    this.discs.forEach(([i, dx, dy, radius], k) => {
      const [c, s] = [cos[i], sin[i]];
      const size = gone(i) ? 0 : radius;
      const [x, y] = [pose[3 * i] + c * dx - s * dy, pose[3 * i + 1] + s * dx + c * dy];
      if (deep) this.solids.setMatrixAt(k, at.makeScale(size, size, 0.8 * this.radius[i]).setPosition(x, y, z[i]));
      else {
        this.bodies.set(k, x, y, z[i], size, 1, 0, 0);
        this.edges.set(k, x, y, z[i], size && size + edge, 1, 0, 0);
      }
    });
    this.bodies.changed();
    this.edges.changed();
    this.solids.instanceMatrix.needsUpdate = true;
  }

  /** Wipes away what a pen has drawn over them. */
  wipe(pen: Pen): void {
    const pose = this.model.poses();
    if (!pose) return;
    const { view } = pen;
    const flags = this.model.arrays.get("flags")?.data;
    this.discs.forEach(([i, dx, dy, radius]) => {
      if ((flags?.[i] ?? 0) & FLAGS.gone) return;
      const [x, y, heading] = [pose[3 * i], pose[3 * i + 1], pose[3 * i + 2]];
      const [c, s] = [Math.cos(heading), Math.sin(heading)];
      const small = this.radius[i] < SYMBOL * view.pixel_m;
      const [u, v, r] = small ? [x, y, SYMBOL * view.pixel_m] : [x + c * dx - s * dy, y + s * dx + c * dy, radius];
      for (const above of view.perspective ? [0, 0.8 * this.radius[i]] : [0]) pen.wipe(u, v, r, above);
    });
  }

  dispose(): void {
    for (const sprites of [this.bodies, this.edges, this.symbols]) sprites.dispose();
    this.solids.geometry.dispose();
    this.solids.material.dispose();
    this.solids.dispose();
  }
}

const DISC = `
  float away = length(place);
  gl_FragColor = vec4(hue, 1.0 - smoothstep(1.0 - fwidth(away), 1.0, away));`;

/** A disc with an edge, for small ones, and an arrow ahead. */
const SYMBOLS = `
  float away = length(place), soft = fwidth(away);
  float inside = 1.0 - smoothstep(1.0 - soft, 1.0, away);
  vec3 color = mix(edge, hue, 1.0 - smoothstep(0.84 - soft, 0.84, away));
  float opacity = inside * small_;
  float ahead = (place.x + 0.55) / 1.3, half_ = 0.75 * (1.0 - ahead), pixel = 0.7 * soft;
  float arrow = 1.0 - smoothstep(half_ - pixel, half_ + pixel, abs(place.y));
  arrow *= smoothstep(-pixel, pixel, place.x + 0.55 - 0.45 * max(0.0, 0.5 - abs(place.y))) * step(away, 0.9);
  gl_FragColor = vec4(mix(color, vec3(1.0), arrow), max(opacity, arrow));`;

/** Squares that a shader paints: one mesh, since software draws instances one by one. */
class Sprites {
  readonly mesh: Mesh<BufferGeometry, ShaderMaterial>;
  private places: BufferAttribute;
  private smalls: BufferAttribute;

  constructor(count: number, order: number, glsl: string, colorOf: (k: number) => string) {
    const corners = new Float32Array(8 * count);
    const tints = new Float32Array(12 * count);
    const index = new Uint32Array(6 * count);
    const color = new Color();
    for (let k = 0; k < count; k++) {
      corners.set([-1, -1, 1, -1, 1, 1, -1, 1], 8 * k);
      index.set([0, 1, 2, 0, 2, 3].map((corner) => 4 * k + corner), 6 * k);
      color.set(colorOf(k)).convertLinearToSRGB();
      for (let corner = 0; corner < 4; corner++) tints.set([color.r, color.g, color.b], 12 * k + 3 * corner);
    }
    const geometry = new BufferGeometry();
    this.places = new BufferAttribute(new Float32Array(12 * count), 3).setUsage(DynamicDrawUsage);
    this.smalls = new BufferAttribute(new Float32Array(4 * count), 1).setUsage(DynamicDrawUsage);
    geometry.setAttribute("position", this.places);
    geometry.setAttribute("small", this.smalls);
    geometry.setAttribute("corner", new BufferAttribute(corners, 2));
    geometry.setAttribute("tint", new BufferAttribute(tints, 3));
    geometry.setIndex(new BufferAttribute(index, 1));
    const material = new ShaderMaterial({
      depthTest: false,
      depthWrite: false,
      transparent: true,
      uniforms: { edge: { value: new Color(EDGE).convertLinearToSRGB() } },
      vertexShader: `
        attribute float small; attribute vec2 corner; attribute vec3 tint;
        varying vec2 place; varying vec3 hue; varying float small_;
        void main() {
          place = corner; hue = tint; small_ = small;
          gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
        }`,
      fragmentShader: `
        uniform vec3 edge; varying vec2 place; varying vec3 hue; varying float small_;
        void main() { ${glsl} if (gl_FragColor.a < 0.01) discard; }`,
    });
    this.mesh = new Mesh(geometry, material);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = order;
  }

  /** Places one; c and s are cosine and sine of its direction. */
  set(k: number, x: number, y: number, z: number, size: number, c: number, s: number, small: number): void {
    const at = this.places.array as Float32Array;
    const [u, v] = [size * c, size * s];
    const begin = 12 * k;
    at[begin] = x - u + v;
    at[begin + 1] = y - v - u;
    at[begin + 3] = x + u + v;
    at[begin + 4] = y + v - u;
    at[begin + 6] = x + u - v;
    at[begin + 7] = y + v + u;
    at[begin + 9] = x - u - v;
    at[begin + 10] = y - v + u;
    at[begin + 2] = at[begin + 5] = at[begin + 8] = at[begin + 11] = z;
    (this.smalls.array as Float32Array).fill(small, 4 * k, 4 * k + 4);
  }

  changed(): void {
    this.places.needsUpdate = this.smalls.needsUpdate = true;
  }

  dispose(): void {
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
  }
}
