/** Layers of cells: each is a rectangle whose texture is coloured by a shader. Changed tiles alone are sent to it. */

import {
  DataTexture,
  FloatType,
  Mesh,
  NearestFilter,
  PlaneGeometry,
  RedFormat,
  ShaderMaterial,
  UnsignedByteType,
  type IUniform,
  type WebGLRenderer,
} from "three";
import { TILE, type CellLayer } from "../model";

/** How the value of a cell becomes a colour: GLSL that sets `color` from `value`; `step` is the step that is shown. */
export interface Style {
  glsl: string;
  uniforms?: Record<string, IUniform>;
}

export class CellMesh {
  readonly mesh: Mesh;
  readonly material: ShaderMaterial;
  private texture: DataTexture;
  private version = -1;
  private shown: Uint8Array | Float32Array;

  constructor(
    readonly layer: CellLayer,
    style: Style,
    order: number,
  ) {
    const { rows, columns, resolution_m, origin } = layer.place;
    const small = layer.cells.BYTES_PER_ELEMENT === 1;
    this.shown = small
      ? new Uint8Array(layer.cells.buffer, layer.cells.byteOffset, layer.cells.length)
      : Float32Array.from(layer.cells);
    this.texture = new DataTexture(this.shown, columns, rows, RedFormat, small ? UnsignedByteType : FloatType);
    this.texture.magFilter = this.texture.minFilter = NearestFilter;
    this.texture.unpackAlignment = 1;
    this.texture.needsUpdate = true;
    this.material = new ShaderMaterial({
      transparent: true,
      depthWrite: false,
      depthTest: false,
      uniforms: { cells: { value: this.texture }, step: { value: 0 }, opacity: { value: 1 }, ...style.uniforms },
      vertexShader:
        "varying vec2 place; void main() { place = uv; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }",
      fragmentShader: `
        uniform sampler2D cells; uniform float step; uniform float opacity; varying vec2 place;
        ${Object.keys(style.uniforms ?? {})
          .map((name) => `uniform ${style.uniforms![name].value?.isColor ? "vec3" : "float"} ${name};`)
          .join(" ")}
        void main() {
          float value = texture2D(cells, place).r${small ? " * 255.0" : ""};
          vec4 color = vec4(0.0);
          ${style.glsl}
          gl_FragColor = vec4(color.rgb, color.a * opacity);
          if (gl_FragColor.a == 0.0) discard;
        }`,
    });
    const geometry = new PlaneGeometry(columns * resolution_m, rows * resolution_m);
    geometry.translate((columns * resolution_m) / 2, (rows * resolution_m) / 2, 0);
    this.mesh = new Mesh(geometry, this.material);
    this.mesh.position.set(origin[0], origin[1], 0);
    this.mesh.rotation.z = origin[2];
    this.mesh.renderOrder = order;
    layer.dirty = [];
  }

  /** Brings the texture up to date. */
  update(renderer: WebGLRenderer, step: number): void {
    this.material.uniforms.step.value = step;
    if (this.version === this.layer.version) return;
    this.version = this.layer.version;
    const tiles = this.layer.dirty;
    this.layer.dirty = [];
    const made = (renderer.properties.get(this.texture) as { __webglTexture?: WebGLTexture }).__webglTexture;
    if (!tiles || !made) {
      if (this.shown instanceof Float32Array) this.shown.set(this.layer.cells as never);
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
          this.shown.set(this.layer.cells.subarray(from, from + width) as never, from);
        }
      }
      const from = row * columns + column;
      gl.texSubImage2D(gl.TEXTURE_2D, 0, column, row, width, height, gl.RED, kind, this.shown, from);
    }
    gl.pixelStorei(gl.UNPACK_ROW_LENGTH, 0);
  }
}
