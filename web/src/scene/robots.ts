/** The robots: bodies, headings, trails. */

import {
  BufferAttribute,
  BufferGeometry,
  CircleGeometry,
  Color,
  DynamicDrawUsage,
  Group,
  InstancedMesh,
  LineBasicMaterial,
  LineSegments,
  Matrix4,
  MeshBasicMaterial,
  Shape,
  ShapeGeometry,
} from "three";
import type { Model } from "../model";
import { robotColor } from "../theme";

const GONE = 2;

export class Robots {
  readonly group = new Group();
  trail_s = 20;
  private bodies: InstancedMesh;
  private noses: InstancedMesh;
  private trails: LineSegments;
  private discs: [number, number, number, number][];

  constructor(private model: Model) {
    const robots = model.hello!.robots;
    this.discs = robots.flatMap((robot, i) => robot.discs.map((d) => [i, ...d] as [number, number, number, number]));
    this.bodies = instances(new CircleGeometry(1, 20), this.discs.length, 20);
    this.discs.forEach(([i], k) => this.bodies.setColorAt(k, new Color(robotColor(i, robots.length))));
    this.noses = instances(nose(), robots.length, 21);
    robots.forEach((_, i) => this.noses.setColorAt(i, new Color("#ffffff")));
    const geometry = new BufferGeometry();
    this.trails = new LineSegments(geometry, new LineBasicMaterial({ vertexColors: true, depthTest: false, transparent: true }));
    this.trails.renderOrder = 15;
    this.trails.frustumCulled = false;
    this.group.add(this.trails, this.bodies, this.noses);
  }

  update(): void {
    const pose = this.model.poses();
    if (!pose) return;
    const flags = this.model.arrays.get("flags")?.data;
    const at = new Matrix4();
    this.discs.forEach(([i, dx, dy, radius], k) => {
      const [x, y, heading] = pose.subarray(3 * i, 3 * i + 3);
      const [c, s] = [Math.cos(heading), Math.sin(heading)];
      const size = flags && flags[i] & GONE ? 0 : radius;
      at.makeScale(size, size, 1).setPosition(x + c * dx - s * dy, y + s * dx + c * dy, 0.02);
      this.bodies.setMatrixAt(k, at);
    });
    this.model.hello!.robots.forEach((robot, i) => {
      const [x, y, heading] = pose.subarray(3 * i, 3 * i + 3);
      const size = flags && flags[i] & GONE ? 0 : Math.max(...robot.discs.map(([dx, dy, r]) => Math.hypot(dx, dy) + r));
      at.makeRotationZ(heading).scale({ x: size, y: size, z: 1 } as never).setPosition(x, y, 0.03);
      this.noses.setMatrixAt(i, at);
    });
    this.bodies.instanceMatrix.needsUpdate = this.noses.instanceMatrix.needsUpdate = true;
    this.updateTrails();
  }

  private updateTrails(): void {
    const { history, hello } = this.model;
    const n = hello!.robots.length;
    const step = this.model.step();
    const first = step - this.trail_s / hello!.step_s;
    const shown = this.trail_s > 0 ? history.filter((one) => one.step >= first && one.step <= step) : [];
    const every = Math.max(1, Math.ceil(shown.length / 400));
    const kept = shown.filter((_, k) => k % every === 0 || k === shown.length - 1);
    const count = Math.max(0, kept.length - 1) * n;
    const places = new Float32Array(6 * count);
    const colors = new Float32Array(6 * count);
    const color = new Color();
    let k = 0;
    for (let i = 0; i < n; i++) {
      color.set(robotColor(i, n));
      for (let t = 1; t < kept.length; t++, k++) {
        const [a, b] = [kept[t - 1].pose, kept[t].pose];
        places.set([a[3 * i], a[3 * i + 1], 0.01, b[3 * i], b[3 * i + 1], 0.01], 6 * k);
        colors.set([color.r, color.g, color.b, color.r, color.g, color.b], 6 * k);
      }
    }
    const geometry = this.trails.geometry;
    geometry.setAttribute("position", new BufferAttribute(places, 3));
    geometry.setAttribute("color", new BufferAttribute(colors, 3));
  }
}

function instances(geometry: BufferGeometry, count: number, order: number): InstancedMesh {
  const mesh = new InstancedMesh(geometry, new MeshBasicMaterial({ depthTest: false, transparent: true }), count);
  mesh.instanceMatrix.setUsage(DynamicDrawUsage);
  mesh.frustumCulled = false;
  mesh.renderOrder = order;
  return mesh;
}

/** An arrow within the unit circle that shows ahead. */
function nose(): ShapeGeometry {
  const shape = new Shape();
  shape.moveTo(0.8, 0);
  shape.lineTo(-0.35, 0.5);
  shape.lineTo(-0.1, 0);
  shape.lineTo(-0.35, -0.5);
  return new ShapeGeometry(shape);
}
