/** What walls and hills hide in the perspective view: lines, marks and words lie over the scene, and know nothing of them. */

import type { Vector3 } from "three";
import type { CellLayer } from "../model";

const WALL = 1;
/** Largest number of places that are looked at between a point and the camera. */
const MOST = 600;

/** Whether something stands between a place [m] and the camera. */
export type Hides = (x: number, y: number, z: number) => boolean;

/**
 * Walks from a place to the camera until it is above all walls and hills.
 *
 * @param eye place of the camera [m].
 * @param truth the walls, if they are shown; `height` is theirs [m].
 * @param altitude that of the ground [m]; `top` is the highest one.
 * @param hilly whether the ground hides, too.
 */
export function hiding(eye: Vector3, truth: CellLayer, height: number, altitude: (x: number, y: number) => number, top: number, hilly: boolean): Hides {
  const { rows, columns, resolution_m, origin } = truth.place;
  const [c, s] = [Math.cos(origin[2]) / resolution_m, Math.sin(origin[2]) / resolution_m];
  return (x, y, z) => {
    const [dx, dy, dz] = [eye.x - x, eye.y - y, eye.z - z];
    const away = Math.hypot(dx, dy);
    if (away < resolution_m || dz <= 0) return false;
    const step = (0.5 * resolution_m) / away;
    const count = Math.min(1 / step, (top + height - z) / (dz * step), MOST);
    for (let k = 2; k < count; k++) {
      const t = k * step;
      const [u, v, up] = [x + t * dx, y + t * dy, z + t * dz];
      const ground = altitude(u, v);
      if (hilly && up < ground) return true;
      const column = Math.floor(c * (u - origin[0]) + s * (v - origin[1]));
      const row = Math.floor(c * (v - origin[1]) - s * (u - origin[0]));
      const inside = row >= 0 && column >= 0 && row < rows && column < columns;
      if (inside && truth.cells[row * columns + column] === WALL && up < ground + height) return true;
    }
    return false;
  };
}
