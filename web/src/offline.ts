/** A recording inside the page itself: its messages are those of a server. */

import type { App } from "./app";
import type { Channel } from "./connection";
import type { ToServer } from "./messages";
import { unpack, type Arrays, type Header } from "./wire";

/** The recording that stands in the page; null: there is none. */
export function recordingInPage(): string | null {
  return document.getElementById("recording")?.textContent ?? null;
}

/** Opens a recording: base64 of deflated messages, each after its length (uint32, little-endian). */
export async function open(app: App, text: string): Promise<void> {
  app.say("Opening the recording …");
  const data = await inflated(text);
  const view = new DataView(data);
  const messages: ArrayBuffer[] = [];
  for (let at = 0; at < data.byteLength; at += 4 + view.getUint32(at, true))
    messages.push(data.slice(at + 4, at + 4 + view.getUint32(at, true)));
  const [hello, recording, ...rest] = messages;
  const file = new File(app, rest.map((one) => fromPlanes(unpack(one))));
  app.connection = file;
  app.receive(JSON.parse(new TextDecoder().decode(hello)) as Header, new Map());
  const { header, arrays } = unpack(recording);
  app.receive(header, arrays);
  file.give(["pose"]);
  app.say("");
}

/** Answers as a server would. */
class File implements Channel {
  readonly open = true;
  private sent = new Set<string>();

  constructor(
    private app: App,
    private messages: { header: Header; arrays: Arrays }[],
  ) {}

  send(message: ToServer): void {
    if (message.type !== "watch") return;
    const { layers = [], details = [], robots = [] } = message;
    const wanted = [
      ...layers.flatMap((name) => [name, `changes:${name}`]),
      ...details.map((name) => (name === "estimates" ? "estimate" : name)),
      ...(details.includes("lidar") ? robots.map((robot) => `lidar:${robot}`) : []),
    ];
    const lacks = wanted.filter((name) => !this.sent.has(name));
    const again = new Set(this.app.model.hello!.layers); // a layer that is watched again is given again
    this.sent = new Set([...wanted, ...[...this.sent].filter((name) => !again.has(name))]);
    this.give(lacks);
  }

  /** Gives the page all messages with some names. */
  give(names: string[]): void {
    for (const { header, arrays } of this.messages) if (names.includes(header.name as string)) this.app.receive(header, arrays);
  }

  ask(message: ToServer): Promise<Header> {
    this.send(message);
    return Promise.reject(new Error("This run has ended: it can only be watched."));
  }
}

/** Poses as a server sends them; the file holds them as `in_planes` in covey/viewer/exports/html.py says. */
function fromPlanes({ header, arrays }: { header: Header; arrays: Arrays }): { header: Header; arrays: Arrays } {
  const planes = arrays.get("planes");
  if (!planes) return { header, arrays };
  const [data, [, columns, rows]] = [planes.data, planes.shape];
  const bits = new Int32Array(columns * rows);
  for (let column = 0, at = 0; column < columns; column++)
    for (let row = 0, value = 0; row < rows; row++, at++) {
      const [one, two, three] = [at + bits.length, at + 2 * bits.length, at + 3 * bits.length];
      value = (value + (data[at] | (data[one] << 8) | (data[two] << 16) | (data[three] << 24))) | 0;
      bits[row * columns + column] = value;
    }
  arrays.set("poses", { data: new Float32Array(bits.buffer), shape: [rows, columns / 3, 3] });
  return { header, arrays };
}

async function inflated(text: string): Promise<ArrayBuffer> {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}
