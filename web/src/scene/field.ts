/** A field of an add-on: a rectangle of cells in the colours of its palette, inside the workspace. */

import { BufferAttribute, DataTexture, Mesh, NearestFilter, RGBAFormat, ShaderMaterial, Shape, ShapeGeometry, UnsignedByteType, Vector2 } from "three";
import type { Mark } from "../drawn";

/** Above what was seen, below the walls that stand over it. */
const ORDER = 4.4;

export class FieldMesh {
  readonly mesh: Mesh<ShapeGeometry, ShaderMaterial>;
  private texture: DataTexture;
  private cells: Uint8Array<ArrayBuffer>;

  constructor(
    public mark: Mark,
    workspace: readonly (readonly [number, number])[] | undefined,
  ) {
    const [{ rows, columns }, { data: bounds }] = mark.parts;
    const [left, right, bottom, top] = bounds;
    this.cells = new Uint8Array(4 * rows * columns);
    this.texture = new DataTexture(this.cells, columns, rows, RGBAFormat, UnsignedByteType);
    this.texture.magFilter = this.texture.minFilter = NearestFilter;
    const corners = workspace ?? [[left, bottom], [right, bottom], [right, top], [left, top]];
    const geometry = new ShapeGeometry(new Shape(corners.map(([x, y]) => new Vector2(x, y))));
    const at = geometry.getAttribute("position");
    const places = Float32Array.from({ length: 2 * at.count }, (_, k) =>
      k % 2 ? (at.getY(k >> 1) - bottom) / (top - bottom) : (at.getX(k >> 1) - left) / (right - left),
    );
    geometry.setAttribute("uv", new BufferAttribute(places, 2));
    const material = new ShaderMaterial({
      transparent: true,
      depthWrite: false,
      depthTest: false,
      uniforms: { cells: { value: this.texture }, fill: { value: mark.fill } },
      vertexShader:
        "varying vec2 place; void main() { place = uv; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }",
      fragmentShader: `
        uniform sampler2D cells; uniform float fill; varying vec2 place;
        void main() {
          vec4 color = texture2D(cells, place);
          if (color.a == 0.0 || place.x < 0.0 || place.y < 0.0 || place.x > 1.0 || place.y > 1.0) discard;
          gl_FragColor = vec4(color.rgb, fill);
        }`,
    });
    this.mesh = new Mesh(geometry, material);
    this.mesh.position.z = 0.01;
    this.mesh.renderOrder = ORDER;
    this.mesh.frustumCulled = false;
    this.paint();
  }

  /** Shows another field in its place; whether it could: they lie alike. */
  take(mark: Mark): boolean {
    const alike = mark.parts.every((part, k) => part.rows === this.mark.parts[k].rows && part.columns === this.mark.parts[k].columns);
    if (!alike || mark.parts[1].data.some((value, k) => value !== this.mark.parts[1].data[k])) return false;
    this.mark = mark;
    this.mesh.material.uniforms.fill.value = mark.fill;
    this.paint();
    return true;
  }

  private paint(): void {
    const { palette, parts } = this.mark;
    const colors = Uint8Array.from({ length: palette.length / 2 }, (_, k) => parseInt(palette.slice(2 * k, 2 * k + 2), 16));
    parts[0].data.forEach((level, k) => {
      if (Number.isFinite(level)) this.cells.set([...colors.subarray(3 * level, 3 * level + 3), 255], 4 * k);
      else this.cells.fill(0, 4 * k, 4 * k + 4);
    });
    this.texture.needsUpdate = true;
  }

  dispose(): void {
    this.texture.dispose();
    this.mesh.material.dispose();
    this.mesh.geometry.dispose();
  }
}
