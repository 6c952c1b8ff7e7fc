/** Layers of cells: each is a rectangle whose texture is coloured by a shader. Changed tiles alone are sent to it. */

import {
  Color,
  DataTexture,
  FloatType,
  Mesh,
  NearestFilter,
  PlaneGeometry,
  RedFormat,
  ShaderMaterial,
  UnsignedByteType,
  Vector2,
  Vector3,
  type IUniform,
  type WebGLRenderer,
} from "three";
import { TILE, type CellLayer } from "../model";
import { SCALE } from "../theme";

/**
 * How the value of a cell becomes a colour: GLSL that sets `color` from `value`. `step` is the step that is shown,
 * `near(x, y)` the value so many cells away, `scale(t)` a colour of the scale for t from 0 to 1.
 */
export interface Style {
  glsl: string;
  uniforms?: Record<string, IUniform>;
}

/** Value of cells that hold no number. */
export const NOTHING = -1e9;

const HELPERS = `
  float near(float x, float y) { return read(place + vec2(x, y) * size); }
  vec3 scale(float t) {
    t = clamp(t, 0.0, 1.0) * ${SCALE.length - 1}.0;
    vec3 c = ${vector(SCALE[0])};
    ${SCALE.slice(1)
      .map((color, k) => `c = mix(c, ${vector(color)}, clamp(t - ${k}.0, 0.0, 1.0));`)
      .join(" ")}
    return c;
  }`;

function vector(hex: string): string {
  return `vec3(${[1, 3, 5].map((k) => (parseInt(hex.slice(k, k + 2), 16) / 255).toFixed(4)).join(", ")})`;
}

/** A colour for shaders: as it is to appear. */
export function tint(hex: string): IUniform<Color> {
  return { value: new Color(hex).convertLinearToSRGB() };
}

export class CellMesh {
  readonly mesh: Mesh;
  readonly material: ShaderMaterial;
  private texture: DataTexture;
  /** State of the ground that it lies over; 0: flat. */
  draped = 0;
  private version = -1;
  private changes: number[];
  private taken: number; // how many of the changes it has drawn
  private shown: Uint8Array | Float32Array;

  constructor(
    readonly layer: CellLayer,
    style: Style,
    order: number,
  ) {
    const { rows, columns, origin } = layer.place;
    const small = layer.cells.BYTES_PER_ELEMENT === 1;
    this.shown = small
      ? new Uint8Array(layer.cells.buffer, layer.cells.byteOffset, layer.cells.length)
      : Float32Array.from(layer.cells, numbers);
    this.texture = new DataTexture(this.shown, columns, rows, RedFormat, small ? UnsignedByteType : FloatType);
    this.texture.magFilter = this.texture.minFilter = NearestFilter;
    this.texture.unpackAlignment = 1;
    this.texture.needsUpdate = true;
    this.material = new ShaderMaterial({
      transparent: true,
      depthWrite: false,
      depthTest: false,
      polygonOffset: true,
      polygonOffsetFactor: -1 - order,
      polygonOffsetUnits: -1 - order,
      uniforms: {
        cells: { value: this.texture },
        step: { value: 0 },
        size: { value: new Vector2(1 / columns, 1 / rows) },
        ...style.uniforms,
      },
      vertexShader:
        "varying vec2 place; void main() { place = uv; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }",
      fragmentShader: `
        uniform sampler2D cells; uniform float step; uniform vec2 size; varying vec2 place;
        ${Object.keys(style.uniforms ?? {})
          .map((name) => `uniform ${style.uniforms![name].value?.isColor ? "vec3" : "float"} ${name};`)
          .join(" ")}
        float read(vec2 at) { return texture2D(cells, at).r${small ? " * 255.0" : ""}; }
        ${HELPERS}
        void main() {
          float value = read(place);
          vec4 color = vec4(0.0);
          ${style.glsl}
          gl_FragColor = color;
          if (gl_FragColor.a == 0.0) discard;
        }`,
    });
    this.mesh = new Mesh(this.sheet(1, 1), this.material);
    this.mesh.position.set(origin[0], origin[1], 0);
    this.mesh.rotation.z = origin[2];
    this.mesh.renderOrder = order;
    this.changes = layer.dirty;
    this.taken = layer.dirty.length;
  }

  /** Lays it over the ground, or flat again; `altitude` is that of the ground [m]. */
  drape(altitude: ((x: number, y: number) => number) | null): void {
    const { rows, columns } = this.layer.place;
    const geometry = altitude ? this.sheet(Math.min(columns, 200), Math.min(rows, 200)) : this.sheet(1, 1);
    if (altitude) {
      this.mesh.updateMatrixWorld();
      const [places, at] = [geometry.getAttribute("position"), new Vector3()];
      for (let k = 0; k < places.count; k++) {
        at.fromBufferAttribute(places, k).applyMatrix4(this.mesh.matrixWorld);
        places.setZ(k, altitude(at.x, at.y) + 0.02);
      }
    }
    this.mesh.geometry.dispose();
    this.mesh.geometry = geometry;
  }

  private sheet(across: number, along: number): PlaneGeometry {
    const { rows, columns, resolution_m } = this.layer.place;
    const geometry = new PlaneGeometry(columns * resolution_m, rows * resolution_m, across, along);
    return geometry.translate((columns * resolution_m) / 2, (rows * resolution_m) / 2, 0) as PlaneGeometry;
  }

  /** Brings the texture up to date. */
  update(renderer: WebGLRenderer, step: number): void {
    this.material.uniforms.step.value = step;
    if (this.version === this.layer.version) return;
    this.version = this.layer.version;
    const tiles = this.changes === this.layer.dirty ? this.changes.slice(this.taken) : null;
    this.changes = this.layer.dirty;
    this.taken = this.changes.length;
    const made = (renderer.properties.get(this.texture) as { __webglTexture?: WebGLTexture }).__webglTexture;
    if (!tiles || !made) {
      if (this.shown instanceof Float32Array) this.shown.set(Float32Array.from(this.layer.cells, numbers));
      this.texture.needsUpdate = true;
      return;
    }
    this.send(renderer, made, tiles);
  }

  dispose(): void {
    this.texture.dispose();
    this.material.dispose();
    this.mesh.geometry.dispose();
  }

  /** Sends tiles to the texture. */
  private send(renderer: WebGLRenderer, texture: WebGLTexture, tiles: number[]): void {
    const gl = renderer.getContext() as WebGL2RenderingContext;
    const { rows, columns } = this.layer.place;
    const across = Math.ceil(columns / TILE);
    const kind = this.shown instanceof Float32Array ? gl.FLOAT : gl.UNSIGNED_BYTE;
    renderer.state.bindTexture(gl.TEXTURE_2D, texture);
    gl.pixelStorei(gl.UNPACK_FLIP_Y_WEBGL, false);
    gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, false);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.pixelStorei(gl.UNPACK_ROW_LENGTH, columns);
    for (const tile of new Set(tiles)) {
      const row = TILE * Math.floor(tile / across);
      const column = TILE * (tile % across);
      const height = Math.min(TILE, rows - row);
      const width = Math.min(TILE, columns - column);
      if (this.shown instanceof Float32Array) {
        for (let r = row; r < row + height; r++) {
          const from = r * columns + column;
          for (let at = from; at < from + width; at++) this.shown[at] = numbers(this.layer.cells[at]);
        }
      }
      const from = row * columns + column;
      gl.texSubImage2D(gl.TEXTURE_2D, 0, column, row, width, height, gl.RED, kind, this.shown, from);
    }
    gl.pixelStorei(gl.UNPACK_ROW_LENGTH, 0);
  }
}

function numbers(value: number): number {
  return Number.isNaN(value) ? NOTHING : value;
}
