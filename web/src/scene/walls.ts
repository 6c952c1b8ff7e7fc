/** Walls with their height, for the perspective view: as few boxes as a simple rule finds. */

import { BoxGeometry, Color, InstancedMesh, Matrix4, MeshLambertMaterial } from "three";
import type { CellLayer } from "../model";

const WALL = 1;

export class WallMesh {
  readonly mesh: InstancedMesh<BoxGeometry, MeshLambertMaterial>;
  readonly version: number;

  constructor(
    readonly layer: CellLayer,
    height: number,
    color: string,
    altitude: (x: number, y: number) => number,
  ) {
    this.version = layer.version;
    const { resolution_m, origin } = layer.place;
    const boxes = rectangles(layer);
    this.mesh = new InstancedMesh(new BoxGeometry(1, 1, 1), new MeshLambertMaterial({ color: new Color(color) }), boxes.length);
    const [c, s] = [Math.cos(origin[2]), Math.sin(origin[2])];
    const at = new Matrix4();
    boxes.forEach(([column, row, across, along], k) => {
      const [u, v] = [(column + across / 2) * resolution_m, (row + along / 2) * resolution_m];
      const [x, y] = [origin[0] + c * u - s * v, origin[1] + s * u + c * v];
      at.makeRotationZ(origin[2]).scale({ x: across * resolution_m, y: along * resolution_m, z: height } as never);
      this.mesh.setMatrixAt(k, at.setPosition(x, y, altitude(x, y) + height / 2));
    });
    this.mesh.frustumCulled = false;
  }

  dispose(): void {
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
    this.mesh.dispose();
  }
}

/** Rectangles that together are the walls: column, row, columns, rows. Each run of a row grows upwards. */
export function rectangles({ cells, place: { rows, columns } }: Pick<CellLayer, "cells" | "place">): [number, number, number, number][] {
  const taken = new Uint8Array(cells.length);
  const found: [number, number, number, number][] = [];
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      const at = row * columns + column;
      if (cells[at] !== WALL || taken[at]) continue;
      let across = 1;
      while (column + across < columns && cells[at + across] === WALL && !taken[at + across]) across++;
      let along = 1;
      grow: for (; row + along < rows; along++)
        for (let k = 0; k < across; k++) {
          const above = at + along * columns + k;
          if (cells[above] !== WALL || taken[above]) break grow;
        }
      for (let r = 0; r < along; r++) taken.fill(1, at + r * columns, at + r * columns + across);
      found.push([column, row, across, along]);
    }
  return found;
}
