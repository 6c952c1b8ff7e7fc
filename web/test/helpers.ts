/** A model of a run that lasts, and a channel that keeps what the page sends. */

import type { Channel } from "../src/connection";
import type { EventInfo, FrameHeader, Hello, ToServer } from "../src/messages";
import { Model } from "../src/model";
import type { Arrays, Header } from "../src/wire";

export const PLACE = { rows: 40, columns: 50, resolution_m: 0.1, origin: [0, 0, 0] as [number, number, number] };

export function hello(more: Partial<Hello> = {}): Hello {
  const robots = ["robot0", "robot1"].map((name) => ({ name, kind: "disc", group: "robots", discs: [[0, 0, 0.2]] as [number, number, number][] }));
  const world = { ...PLACE, name: "room", wall_height_m: 2, doors: [], ground: false };
  const rest = { covey: "", name: "room", seed: 0, goal: {}, mission: { kind: "exploration" }, layers: ["truth", "first_explored"], at_end: [] };
  return { type: "hello", mode: "live", edits: true, step_s: 0.1, robots, world, ...rest, ...more };
}

export function model(more: Partial<Hello> = {}): Model {
  const made = new Model();
  made.begin(hello(more));
  return made;
}

/** A frame; robots are where `step` says, and the team has explored as much. */
export function frame(step: number, more: Partial<FrameHeader> = {}): [FrameHeader, Arrays] {
  const header = { type: "frame", frame: step, step, time_s: step / 10, status: null, playing: false, factor: 1, events: [], links: [], team: { explored_share_union: step / 1000 } };
  const pose = new Float32Array(6).fill(step);
  return [{ ...header, ...more } as FrameHeader, new Map([["pose", { data: pose, shape: [2, 3] }], ["flags", { data: new Uint8Array(2), shape: [2] }]])];
}

export function event(step: number, kind: EventInfo["kind"], more: Partial<EventInfo> = {}): EventInfo {
  return { step, time_s: step / 10, kind, x: null, y: null, ...more };
}

export class Sent implements Channel {
  open = true;
  messages: ToServer[] = [];
  send(message: ToServer): void {
    this.messages.push(message);
  }
  ask(message: ToServer): Promise<Header> {
    this.messages.push(message);
    return Promise.resolve({ type: "done" });
  }
}
