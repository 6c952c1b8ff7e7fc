/** The robots: their true bodies, and symbols that show place and heading however far away one looks from. */

import {
  Color,
  CylinderGeometry,
  DynamicDrawUsage,
  Group,
  InstancedBufferAttribute,
  InstancedMesh,
  Matrix4,
  MeshLambertMaterial,
  PlaneGeometry,
  ShaderMaterial,
} from "three";
import type { Model } from "../model";
import { robotColor, type Colors } from "../theme";
import type { View } from "./view";

export const FLAGS = { halted: 1, gone: 2, mute: 4 };
/** Least radius of a symbol [pixel]. */
export const SYMBOL = 7;

export class Robots {
  readonly group = new Group();
  /** Radius of each robot [m]. */
  readonly radius: number[];
  private symbols: InstancedMesh<PlaneGeometry, ShaderMaterial>;
  private small: InstancedBufferAttribute;
  private bodies: InstancedMesh<PlaneGeometry, ShaderMaterial>;
  private edges: InstancedMesh<PlaneGeometry, ShaderMaterial>;
  private solids: InstancedMesh<CylinderGeometry, MeshLambertMaterial>;
  private discs: [number, number, number, number][];

  constructor(
    private model: Model,
    colors: Colors,
  ) {
    const robots = model.hello!.robots;
    const n = robots.length;
    this.radius = robots.map((robot) => Math.max(...robot.discs.map(([x, y, r]) => Math.hypot(x, y) + r)));
    this.discs = robots.flatMap((robot, i) => robot.discs.map((d) => [i, ...d] as [number, number, number, number]));
    this.edges = sprites(this.discs.length, 20, DISC);
    this.bodies = sprites(this.discs.length, 21, DISC);
    this.symbols = sprites(n, 22, SYMBOLS);
    this.symbols.material.uniforms.edge = { value: new Color(colors.ink).convertLinearToSRGB() };
    this.small = new InstancedBufferAttribute(new Float32Array(n), 1).setUsage(DynamicDrawUsage);
    this.symbols.geometry.setAttribute("small", this.small);
    const cylinder = new CylinderGeometry(1, 1, 1, 20).rotateX(Math.PI / 2).translate(0, 0, 0.5);
    this.solids = new InstancedMesh(cylinder, new MeshLambertMaterial(), this.discs.length);
    this.solids.frustumCulled = false;
    const [color, ink] = [new Color(), new Color(colors.ink).convertLinearToSRGB()];
    this.discs.forEach(([i], k) => {
      this.solids.setColorAt(k, color.set(robotColor(i, n)));
      this.bodies.setColorAt(k, color.convertLinearToSRGB());
      this.edges.setColorAt(k, ink);
    });
    robots.forEach((_, i) => this.symbols.setColorAt(i, color.set(robotColor(i, n)).convertLinearToSRGB()));
    this.group.add(this.solids, this.edges, this.bodies, this.symbols);
  }

  /** Brings them up to date; `altitude` is that of the ground [m]. */
  update(view: View, altitude: (x: number, y: number) => number): void {
    const pose = this.model.poses();
    this.group.visible = pose !== null;
    if (!pose) return;
    const flags = this.model.arrays.get("flags")?.data;
    const at = new Matrix4();
    const deep = view.perspective;
    this.solids.visible = deep;
    this.edges.visible = this.bodies.visible = !deep;
    const z = this.model.hello!.robots.map((_, i) => altitude(pose[3 * i], pose[3 * i + 1]));
    const edge = view.pixel_m;
    this.discs.forEach(([i, dx, dy, radius], k) => {
      const [x, y, heading] = pose.subarray(3 * i, 3 * i + 3);
      const [c, s] = [Math.cos(heading), Math.sin(heading)];
      const size = flags && flags[i] & FLAGS.gone ? 0 : radius;
      const [px, py] = [x + c * dx - s * dy, y + s * dx + c * dy];
      if (deep) this.solids.setMatrixAt(k, at.makeScale(size, size, 0.8 * this.radius[i]).setPosition(px, py, z[i]));
      else {
        this.bodies.setMatrixAt(k, at.makeScale(size, size, 1).setPosition(px, py, z[i]));
        this.edges.setMatrixAt(k, at.makeScale(size + edge, size + edge, 1).setPosition(px, py, z[i]));
      }
    });
    this.radius.forEach((radius, i) => {
      const [x, y, heading] = pose.subarray(3 * i, 3 * i + 3);
      const small = radius < SYMBOL * view.pixel_m;
      const size = flags && flags[i] & FLAGS.gone ? 0 : small ? SYMBOL * view.pixel_m : radius;
      at.makeRotationZ(heading).scale({ x: size, y: size, z: 1 } as never).setPosition(x, y, z[i] + (deep ? 0.85 * radius : 0));
      this.symbols.setMatrixAt(i, at);
      this.small.array[i] = small ? 1 : 0;
    });
    this.small.needsUpdate = true;
    for (const mesh of [this.bodies, this.edges, this.symbols, this.solids]) mesh.instanceMatrix.needsUpdate = true;
  }

  dispose(): void {
    for (const mesh of [this.bodies, this.edges, this.symbols, this.solids]) {
      mesh.geometry.dispose();
      mesh.material.dispose();
      mesh.dispose();
    }
  }
}

const DISC = `
  float away = length(place);
  gl_FragColor = vec4(tint, 1.0 - smoothstep(1.0 - fwidth(away), 1.0, away));`;

/** A disc with an edge, for small ones, and an arrow ahead. */
const SYMBOLS = `
  float away = length(place), soft = fwidth(away);
  float inside = 1.0 - smoothstep(1.0 - soft, 1.0, away);
  vec3 color = mix(edge, tint, 1.0 - smoothstep(0.84 - soft, 0.84, away));
  float opacity = inside * small_;
  float ahead = (place.x + 0.55) / 1.3, half_ = 0.75 * (1.0 - ahead), pixel = 0.7 * soft;
  float arrow = 1.0 - smoothstep(half_ - pixel, half_ + pixel, abs(place.y));
  arrow *= smoothstep(-pixel, pixel, place.x + 0.55 - 0.45 * max(0.0, 0.5 - abs(place.y))) * step(away, 0.9);
  gl_FragColor = vec4(mix(color, vec3(1.0), arrow), max(opacity, arrow));`;

function sprites(count: number, order: number, glsl: string): InstancedMesh<PlaneGeometry, ShaderMaterial> {
  const material = new ShaderMaterial({
    depthTest: false,
    depthWrite: false,
    transparent: true,
    uniforms: { edge: { value: new Color() } },
    vertexShader: `
      attribute float small; varying vec2 place; varying vec3 tint; varying float small_;
      void main() {
        place = position.xy; tint = instanceColor; small_ = small;
        gl_Position = projectionMatrix * modelViewMatrix * instanceMatrix * vec4(position, 1.0);
      }`,
    fragmentShader: `
      uniform vec3 edge; varying vec2 place; varying vec3 tint; varying float small_;
      void main() { ${glsl} if (gl_FragColor.a < 0.01) discard; }`,
  });
  const mesh = new InstancedMesh(new PlaneGeometry(2, 2), material, count);
  mesh.instanceMatrix.setUsage(DynamicDrawUsage);
  mesh.frustumCulled = false;
  mesh.renderOrder = order;
  return mesh;
}
