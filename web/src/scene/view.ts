/** The camera and the canvas: flat or perspective, drawn only when something has changed. */

import {
  Color,
  Matrix4,
  OrthographicCamera,
  PerspectiveCamera,
  Plane,
  Raycaster,
  Scene,
  Vector2,
  Vector3,
  WebGLRenderer,
  type Camera,
} from "three";

export interface Box {
  left: number;
  bottom: number;
  right: number;
  top: number;
  /** Of what stands on it; without it, it is flat. */
  height?: number;
}

/** Where a place behind the camera is on the canvas [pixel]. */
const BEHIND = -1e5;

export class View {
  readonly scene = new Scene();
  readonly renderer: WebGLRenderer;
  perspective = false;
  /** Middle of the view [m], and the length of a pixel [m] in the flat view. */
  middle = new Vector3();
  pixel_m = 0.05;
  /** Orbit of the perspective view: direction and height of the camera [rad]. */
  turn = -Math.PI / 2;
  height = 0.9;
  /** Called before each drawing, and after it. */
  onDraw: (() => void)[] = [];
  afterDraw: (() => void)[] = [];
  private flat = new OrthographicCamera();
  private deep = new PerspectiveCamera(45, 1, 0.05, 5000);
  private asked = false;
  /** What is to fit into the view, until somebody moves it. */
  private fitted: Box | null = null;
  private matrix = new Matrix4();

  constructor(readonly canvas: HTMLCanvasElement) {
    // Antialiasing of the whole scene takes ten times the time where the processor draws.
    this.renderer = new WebGLRenderer({ canvas, antialias: false, powerPreference: "high-performance", preserveDrawingBuffer: true });
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement!);
    this.resize();
  }

  get camera(): Camera {
    return this.perspective ? this.deep : this.flat;
  }

  /** Where the camera of the perspective view is [m]; null: the view is flat. */
  get eye(): Vector3 | null {
    return this.perspective ? this.deep.position : null;
  }

  /** The camera as plain data. */
  get state(): { middle: number[]; pixel_m: number; perspective: boolean; turn: number; height: number; fitted: Box | null } {
    const { middle, pixel_m, perspective, turn, height, fitted } = this;
    return { middle: middle.toArray(), pixel_m, perspective, turn, height, fitted };
  }

  set state({ middle, ...more }: View["state"]) {
    this.middle.fromArray(middle);
    Object.assign(this, more);
    this.resize();
  }

  background(color: string): void {
    this.scene.background = new Color(color);
    this.draw();
  }

  /** Asks for a drawing; many calls make one. */
  draw(): void {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      for (const before of this.onDraw) before();
      this.place();
      this.renderer.render(this.scene, this.camera);
      for (const after of this.afterDraw) after();
    });
  }

  /** Shows a box of the world. */
  fit(box: Box): void {
    const { left, bottom, right, top } = box;
    this.fitted = box;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.middle.set((left + right) / 2, (bottom + top) / 2, 0);
    this.pixel_m = 1.08 * Math.max((right - left) / Math.max(width, 1), (top - bottom) / Math.max(height, 1), 1e-4);
    if (this.perspective) this.fitDeep(box);
    this.draw();
  }

  /** Moves the camera of the perspective view until a box of the ground fills it: what is nearer is larger. */
  private fitDeep({ left, bottom, right, top, height: high = 0 }: Box): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width || !height) return;
    for (let turn = 0; turn < 12; turn++) {
      this.ready();
      const corners = [[left, bottom], [right, bottom], [right, top], [left, top]].flatMap(([x, y]) => [this.project(x, y), this.project(x, y, high)]);
      const [us, vs] = [0, 1].map((k) => corners.map((corner) => corner[k]));
      const [u0, u1, v0, v1] = [Math.min(...us), Math.max(...us), Math.min(...vs), Math.max(...vs)];
      if (u0 <= BEHIND) {
        this.pixel_m *= 2;
        continue;
      }
      const [before, after] = [this.ground(width / 2, height / 2), this.ground((u0 + u1) / 2, (v0 + v1) / 2)];
      if (before && after) this.middle.add(after.sub(before));
      this.pixel_m *= 1.08 * Math.max((u1 - u0) / width, (v1 - v0) / height);
    }
  }

  /** The point of the ground [m] under a place of the canvas [pixel]; null: the sky. */
  ground(x: number, y: number): Vector3 | null {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const ray = new Raycaster();
    this.place();
    ray.setFromCamera(new Vector2((2 * x) / width - 1, 1 - (2 * y) / height), this.camera);
    return ray.ray.intersectPlane(new Plane(new Vector3(0, 0, 1)), new Vector3());
  }

  /** The place on the canvas [pixel] of a point of the world [m]. */
  pixel(x: number, y: number, z = 0): [number, number] {
    this.ready();
    return this.project(x, y, z);
  }

  /** Places the camera, before many calls of `project`. */
  ready(): void {
    this.place();
    const camera = this.camera as OrthographicCamera | PerspectiveCamera;
    this.matrix.multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
  }

  /** As `pixel`, for the camera as it was at the last `ready`. */
  project(x: number, y: number, z = 0): [number, number] {
    const m = this.matrix.elements;
    const w = m[3] * x + m[7] * y + m[11] * z + m[15];
    if (w <= 0) return [BEHIND, BEHIND];
    const u = (m[0] * x + m[4] * y + m[8] * z + m[12]) / w;
    const v = (m[1] * x + m[5] * y + m[9] * z + m[13]) / w;
    return [((u + 1) / 2) * this.canvas.clientWidth, ((1 - v) / 2) * this.canvas.clientHeight];
  }

  /** Zooms by a factor, around a place of the canvas [pixel]. */
  zoom(factor: number, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2): void {
    this.fitted = null;
    const before = this.ground(x, y);
    this.pixel_m = Math.min(Math.max(this.pixel_m * factor, 1e-4), 100);
    const after = this.ground(x, y);
    if (before && after) this.middle.add(before.sub(after).setZ(0));
    this.draw();
  }

  /** Shows a place [m] in the middle; z: its altitude. */
  lookAt(x: number, y: number, z = 0, pixel_m = this.pixel_m): void {
    this.fitted = null;
    this.middle.set(x, y, z);
    this.pixel_m = pixel_m;
    this.draw();
  }

  /** Moves the view by pixels. */
  pan(dx: number, dy: number): void {
    this.fitted = null;
    const c = Math.cos(this.perspective ? this.turn + Math.PI / 2 : 0);
    const s = Math.sin(this.perspective ? this.turn + Math.PI / 2 : 0);
    const across = -dx * this.pixel_m;
    const along = dy * this.pixel_m;
    this.middle.add(new Vector3(c * across - s * along, s * across + c * along, 0));
    this.draw();
  }

  orbit(turn: number, height: number): void {
    this.turn += turn;
    this.height = Math.min(Math.max(this.height + height, 0.05), 1.55);
    this.draw();
  }

  /** Shows again what was to fit into the view, if nobody has moved it since. */
  refit(): void {
    if (this.fitted) this.fit(this.fitted);
    this.draw();
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement!;
    this.renderer.setSize(width, height);
    this.refit();
  }

  /** Places the cameras. */
  private place(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const { x, y } = this.middle;
    const [w, h] = [(width * this.pixel_m) / 2, (height * this.pixel_m) / 2];
    Object.assign(this.flat, { left: -w, right: w, top: h, bottom: -h, near: 0.1, far: 4000 });
    this.flat.position.set(x, y, 2000);
    this.flat.updateProjectionMatrix();
    this.flat.updateMatrixWorld();
    const away = h / Math.tan(Math.PI / 8);
    this.deep.aspect = width / Math.max(height, 1);
    this.deep.near = away / 100;
    this.deep.far = away * 20;
    this.deep.up.set(0, 0, 1);
    const flatWay = away * Math.cos(this.height);
    this.deep.position.set(
      x + flatWay * Math.cos(this.turn),
      y + flatWay * Math.sin(this.turn),
      this.middle.z + away * Math.sin(this.height),
    );
    this.deep.lookAt(x, y, this.middle.z);
    this.deep.updateProjectionMatrix();
    this.deep.updateMatrixWorld();
  }
}
