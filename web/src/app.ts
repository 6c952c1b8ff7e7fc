/** The page: connection, model, scene and panels. */

import { Connection, type Channel } from "./connection";
import { editPanel } from "./edit/panel";
import { Shelf } from "./gallery/shelf";
import type { Cells, Watched } from "./layers";
import type { FrameHeader, Hello, Place, ToServer } from "./messages";
import { Model } from "./model";
import { LivePlayer, type Player } from "./player";
import { Replay } from "./replay";
import { Stage } from "./scene/stage";
import type { View } from "./scene/view";
import type { Theme } from "./theme";
import { viewTools } from "./ui/camera";
import { capture } from "./ui/capture";
import { cursor } from "./ui/cursor";
import { h } from "./ui/dom";
import { inspector } from "./ui/inspector";
import { Keys } from "./ui/keys";
import { layersPanel } from "./ui/layers";
import { measureTools } from "./ui/measure";
import { Memory } from "./ui/memory";
import { whyGone } from "./gone";
import { playback } from "./ui/playback";
import { plots } from "./ui/plots";
import { resultPanel } from "./ui/result";
import { robotsPanel } from "./ui/robots";
import { Shell } from "./ui/shell";
import { firstTheme, themeButton } from "./ui/themes";
import { timeline } from "./ui/timeline";
import { Tools } from "./ui/tools";
import type { Arrays, Header } from "./wire";

/** What a panel needs of the server. */
export interface Wish {
  layers?: Cells[];
  details?: Watched[];
}

export class App {
  readonly model = new Model();
  readonly stage: Stage;
  readonly view: View;
  connection: Channel | null = null;
  player: Player | null = null;
  theme: Theme = firstTheme();
  readonly keys = new Keys();
  readonly shell: Shell;
  /** What the panels need; `watch` asks the server for it. */
  readonly wishes: (() => Wish)[] = [];
  readonly tools: Tools;
  readonly memory: Memory;
  /** Selects a robot, and keeps it in the middle. */
  follow: (robot: number) => void = () => {};
  private asked = "";
  private shelf: Shelf;
  private takers = new Map<string, (header: Header) => void>();

  constructor(root: HTMLElement) {
    this.shelf = new Shelf(this, root);
    document.documentElement.dataset.theme = this.theme;
    this.shell = new Shell(root);
    this.keys.onEscape(1.5, () => this.shell.uncover());
    this.stage = new Stage(this, (stage) => this.shell.place(stage));
    this.view = this.stage.view;
    this.wishes.push(() => this.stage.wish());
    this.shell.title.after(playback(this));
    this.tools = new Tools(this);
    this.memory = new Memory(this);
    const measured = h("strong", { class: "measured", role: "status", "aria-label": "Measured" });
    this.shell.tools.append(...viewTools(this), ...measureTools(this, measured), capture(this), themeButton(this), this.keys.button());
    this.stage.element.append(cursor(this, measured));
    this.shell.left.append(robotsPanel(this), inspector(this));
    this.shell.plots.append(plots(this));
    this.shell.layers.append(layersPanel(this));
    resultPanel(this);
    editPanel(this);
    this.shell.bottom.append(...timeline(this));
    this.model.onChange(() => {
      this.watch();
      this.view.draw();
    });
  }

  connect(address: string, token: string): void {
    this.connection = new Connection(
      address,
      token,
      (header, arrays) => this.receive(header, arrays),
      (state) => {
        this.say(state === "open" ? "" : whyGone(state, this.model, location.hash));
        if (this.model.hello) this.model.changed();
      },
    );
  }

  /** Calls a function with each message of a type that the page itself does not take in. */
  onMessage(type: string, take: (header: Header) => void): void {
    this.takers.set(type, take);
  }

  /** Takes in a message of the server, or of a file. */
  receive(header: Header, arrays: Arrays): void {
    if (this.shelf.takes(header)) return;
    if (header.type === "hello") this.begin(header as unknown as Hello);
    else if (header.type === "recording" && this.player instanceof Replay) this.player.begin(header, arrays);
    else if (header.type === "poses" && this.player instanceof Replay) this.player.takePoses(header, arrays);
    else if (this.player instanceof Replay && this.player.takes(header, arrays)) return;
    else if (header.type === "layer")
      this.model.takeLayer(header.name as string, header as unknown as Place, arrays.get("cells")!.data);
    else if (header.type === "past") this.model.takePast(header, arrays);
    else if (header.type === "frame") {
      this.model.takeFrame(header as unknown as FrameHeader, arrays);
      this.connection!.send({ type: "ack", frame: (header as unknown as FrameHeader).frame });
    } else if (header.type === "waiting") {
      this.say(header.text as string);
      if ("factor" in header) this.model.waiting = header as unknown as Model["waiting"];
      this.model.changed();
    } else if (header.type === "state" && this.model.frame) {
      Object.assign(this.model.frame, { playing: header.playing, factor: header.factor, steps: header.steps });
      this.model.changed();
    } else this.takers.get(header.type)?.(header);
  }

  say(text: string): void {
    this.shell.notice.textContent = text;
    this.shelf.say(text);
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    document.documentElement.dataset.theme = theme;
    this.stage.restyle();
    this.model.changed();
  }

  private begin(hello: Hello): void {
    this.asked = "";
    this.say("");
    this.model.prepare = null;
    const live = () => new LivePlayer(this.model, this.connection!, (text) => this.say(text));
    this.player = hello.mode === "replay" ? new Replay(this.model) : live();
    this.model.begin(hello);
    this.stage.begin();
    const name = hello.name || hello.world.name || "run";
    const which = new URLSearchParams(location.hash.slice(1)).get("of"); // of two side by side
    document.title = `${name} – Covey`;
    this.shell.title.textContent = which ? `${which}: ${hello.folder || name}, seed ${hello.seed}` : name;
    this.shell.title.title = this.shell.title.textContent;
    this.shell.title.classList.toggle("of-two", which !== null);
    this.fit();
    this.memory.restore();
    this.model.changed();
  }

  fit(): void {
    const { origin, rows, columns, resolution_m, wall_height_m: height } = this.model.hello!.world;
    const [right, top] = [origin[0] + columns * resolution_m, origin[1] + rows * resolution_m];
    this.view.fit({ left: origin[0], bottom: origin[1], right, top, height });
  }

  /** Shows a place of the world [m], if it has one. */
  lookAt(x: number | null, y: number | null): void {
    if (x === null || y === null) return;
    const [u, v] = this.view.pixel(x, y);
    const { clientWidth: width, clientHeight: height } = this.view.canvas;
    if (u < 20 || v < 20 || u > width - 20 || v > height - 20) this.view.lookAt(x, y);
    this.view.draw();
  }

  /** Asks the server for what is shown, if that has changed. */
  watch(): void {
    if (!this.model.hello || !this.connection) return;
    const wishes = this.wishes.map((wish) => wish());
    const layers: string[] = [...new Set(wishes.flatMap((wish) => wish.layers ?? []))];
    const details = [...new Set(wishes.flatMap((wish) => wish.details ?? []))];
    const message: ToServer = { type: "watch", layers, details, robots: [...this.model.selected], rate_hz: 10 };
    if (JSON.stringify(message) === this.asked) return;
    this.asked = JSON.stringify(message);
    for (const name of [...this.model.layers.keys()]) if (!layers.includes(name)) this.model.layers.delete(name);
    this.connection.send(message);
  }
}
