/** The landscape: a surface coloured by its altitude and lit from the north-west. */

import { BufferAttribute, Color, DoubleSide, Mesh, MeshBasicMaterial, PlaneGeometry } from "three";
import { altitudes, GROUND } from "../layers";
import type { CellLayer, Model } from "../model";

/** Largest number of vertices along a side. */
const MOST = 400;

export class GroundMesh {
  readonly mesh: Mesh<PlaneGeometry, MeshBasicMaterial>;
  private version = -1;
  private columns: number;
  private rows: number;

  constructor(readonly layer: CellLayer) {
    const { rows, columns, resolution_m, origin } = layer.place;
    [this.columns, this.rows] = [Math.min(columns, MOST), Math.min(rows, MOST)];
    const [width, height] = [(columns - 1) * resolution_m, (rows - 1) * resolution_m];
    const geometry = new PlaneGeometry(width, height, this.columns - 1, this.rows - 1);
    const half = 0.5 * resolution_m;
    geometry.translate(origin[0] + half + width / 2, origin[1] + half + height / 2, 0);
    geometry.setAttribute("color", new BufferAttribute(new Float32Array(3 * this.columns * this.rows), 3));
    this.mesh = new Mesh(geometry, new MeshBasicMaterial({ vertexColors: true, side: DoubleSide }));
    this.mesh.renderOrder = -1;
    this.mesh.frustumCulled = false;
  }

  /** Brings it up to date; returns whether it has changed. */
  update(model: Model): boolean {
    if (this.version === this.layer.version) return false;
    this.version = this.layer.version;
    const [low, high] = altitudes(model);
    const { resolution_m } = this.layer.place;
    const places = this.mesh.geometry.getAttribute("position") as BufferAttribute;
    const colors = this.mesh.geometry.getAttribute("color") as BufferAttribute;
    const stops = GROUND.map((hex) => new Color(hex));
    const [color, d] = [new Color(), resolution_m];
    for (let k = 0; k < places.count; k++) {
      const [x, y] = [places.getX(k), places.getY(k)];
      const z = altitudeIn(this.layer, x, y);
      places.setZ(k, z);
      const slopeX = (altitudeIn(this.layer, x + d, y) - altitudeIn(this.layer, x - d, y)) / (2 * d);
      const slopeY = (altitudeIn(this.layer, x, y + d) - altitudeIn(this.layer, x, y - d)) / (2 * d);
      // Lambert's law, light from the north-west at 45 degrees.
      const light = (0.5 * slopeX - 0.5 * slopeY + Math.SQRT1_2) / Math.hypot(slopeX, slopeY, 1);
      const t = ((z - low) / (high - low)) * (stops.length - 1);
      const j = Math.min(Math.max(Math.floor(t), 0), stops.length - 2);
      color.lerpColors(stops[j], stops[j + 1], t - j).multiplyScalar(0.35 + 0.92 * Math.max(light, 0));
      colors.setXYZ(k, color.r, color.g, color.b);
    }
    places.needsUpdate = colors.needsUpdate = true;
    return true;
  }

  dispose(): void {
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
  }
}

/** The altitude [m] in a layer of vertices; beyond its edge that of the nearest point. */
export function altitudeIn({ cells, place }: CellLayer, x: number, y: number): number {
  const { rows, columns, resolution_m, origin } = place;
  const u = Math.min(Math.max((x - origin[0]) / resolution_m - 0.5, 0), columns - 1.001);
  const v = Math.min(Math.max((y - origin[1]) / resolution_m - 0.5, 0), rows - 1.001);
  const [i, j] = [Math.floor(u), Math.floor(v)];
  const [a, b] = [u - i, v - j];
  const at = j * columns + i;
  const low = cells[at] * (1 - a) + cells[Math.min(at + 1, cells.length - 1)] * a;
  const high = cells[Math.min(at + columns, cells.length - 1)] * (1 - a) + cells[Math.min(at + columns + 1, cells.length - 1)] * a;
  return low * (1 - b) + high * b;
}
