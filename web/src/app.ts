/** The page: connection, model, scene and panels. */

import { Color } from "three";
import { Connection, type Channel } from "./connection";
import type { FrameHeader, Hello, Place } from "./messages";
import { Model } from "./model";
import { LivePlayer, type Player } from "./player";
import { Replay } from "./replay";
import { CellMesh, type Style } from "./scene/cells";
import { pointer } from "./scene/pointer";
import { Robots } from "./scene/robots";
import { View } from "./scene/view";
import { THEMES, type Theme } from "./theme";
import { h } from "./ui/dom";
import { playback } from "./ui/playback";
import type { Arrays, Header } from "./wire";

export class App {
  readonly model = new Model();
  readonly view: View;
  connection: Channel | null = null;
  player: Player | null = null;
  theme: Theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  private meshes = new Map<string, CellMesh>();
  private robots: Robots | null = null;
  private notice = h("p", { role: "status", class: "notice", "aria-live": "polite" });

  constructor(root: HTMLElement) {
    const canvas = h("canvas", { tabindex: "0", "aria-label": "The world and its robots", role: "img" });
    const stage = h("main", { class: "stage" }, canvas);
    root.append(h("header", {}, h("h1", {}, "Covey"), playback(this), this.notice), stage);
    this.view = new View(canvas);
    this.view.onDraw.push(() => this.prepare());
    pointer(this.view);
    document.documentElement.dataset.theme = this.theme;
    this.view.background(THEMES[this.theme].sky);
    this.model.onChange(() => this.view.draw());
  }

  connect(address: string, token: string): void {
    this.connection = new Connection(
      address,
      token,
      (header, arrays) => this.receive(header, arrays),
      (state) => this.say({ connecting: "Connecting …", open: "", lost: "The connection is lost. Trying again …", refused: "The server refuses this page. Open the address that covey printed." }[state]),
    );
  }

  /** Takes in a message of the server, or of a file. */
  receive(header: Header, arrays: Arrays): void {
    if (header.type === "hello") this.begin(header as unknown as Hello);
    else if (header.type === "recording" && this.player instanceof Replay) this.player.begin(header, arrays);
    else if (header.type === "layer")
      this.model.takeLayer(header.name as string, header as unknown as Place, arrays.get("cells")!.data);
    else if (header.type === "frame") {
      this.model.takeFrame(header as unknown as FrameHeader, arrays);
      this.connection!.send({ type: "ack", frame: (header as unknown as FrameHeader).frame });
    } else if (header.type === "state" && this.model.frame) {
      Object.assign(this.model.frame, { playing: header.playing, factor: header.factor });
      this.model.changed();
    }
  }

  say(text: string): void {
    this.notice.textContent = text;
  }

  private begin(hello: Hello): void {
    this.model.prepare = null;
    const live = () => new LivePlayer(this.model, this.connection!, (text) => this.say(text));
    this.player = hello.mode === "replay" ? new Replay(this.model) : live();
    this.model.begin(hello);
    for (const mesh of this.meshes.values()) this.view.scene.remove(mesh.mesh);
    this.meshes.clear();
    if (this.robots) this.view.scene.remove(this.robots.group);
    this.robots = new Robots(this.model);
    this.view.scene.add(this.robots.group);
    document.title = `${hello.name || hello.world.name || "run"} – Covey`;
    this.fit();
    this.watch();
  }

  fit(): void {
    const { origin, rows, columns, resolution_m } = this.model.hello!.world;
    const [width, height] = [columns * resolution_m, rows * resolution_m];
    this.view.fit({ left: origin[0], bottom: origin[1], right: origin[0] + width, top: origin[1] + height });
  }

  private watch(): void {
    const layers = ["truth", "first_explored"].filter((name) => this.model.hello!.layers.includes(name));
    this.connection?.send({ type: "watch", layers, details: [], robots: [], rate_hz: 10 });
  }

  /** Brings the scene up to date; called before each drawing. */
  private prepare(): void {
    for (const layer of this.model.layers.values()) {
      let mesh = this.meshes.get(layer.name);
      if (mesh && mesh.layer !== layer) {
        this.view.scene.remove(mesh.mesh);
        mesh.dispose();
        mesh = undefined;
      }
      if (!mesh) {
        mesh = new CellMesh(layer, this.style(layer.name), layer.name === "truth" ? 0 : 1);
        this.meshes.set(layer.name, mesh);
        this.view.scene.add(mesh.mesh);
      }
      mesh.update(this.view.renderer, this.model.step());
    }
    this.robots?.update();
  }

  private style(name: string): Style {
    const theme = THEMES[this.theme];
    const uniforms = Object.fromEntries(Object.entries(theme).map(([key, value]) => [key, { value: new Color(value) }]));
    if (name === "truth")
      return {
        uniforms,
        glsl: `
          color = vec4(value < 0.5 ? free : value < 1.5 ? wall : unknown, 1.0);
          if (value > 2.5) color.a = 0.0;
          color = linearToOutputTexel(color);`,
      };
    return { uniforms, glsl: "if (value >= 0.0 && value <= step) color = linearToOutputTexel(vec4(explored, 1.0));" };
  }
}
