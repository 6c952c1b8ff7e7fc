/** What the server sends: messages of the protocol covey.1, see covey/viewer/server.py. What a page sends is in generated.ts. */

import type { EventData, EventKind } from "./generated";

export { PROTOCOL, type ToServer } from "./generated";

/** What never changes in a run. */
export interface Hello {
  type: "hello";
  mode: "live" | "replay";
  edits: boolean;
  covey: string;
  name: string;
  seed: number;
  /** Of a recording: the name of its folder. */
  folder?: string;
  step_s: number;
  /** Whether a recording is shown at its end first. */
  shows_end?: boolean;
  goal: Record<string, unknown>;
  mission: { kind: string; [fact: string]: unknown };
  robots: RobotInfo[];
  /** What there is to find. */
  targets?: TargetInfo[];
  /** Of a run that lasts: whether an order to the team changes anything, and when its time is up [s]. */
  orders?: boolean;
  timeout_s?: number;
  world: WorldInfo;
  layers: string[];
  /** Names of the add-ons that draw. */
  drawn?: Drawn[];
  /** The layers that are known as they are now, or were at the end, only; of a recording the details that there are; null: all. */
  at_end?: string[];
  details?: string[];
  /** Of a recording: the period [s] of those layers and details that were recorded at one. */
  every_s?: Record<string, number>;
  /** Folder of the record of a run that lasts; empty: there is none. */
  record?: string;
  /** Of a run that has ended: what came of it. */
  result?: Result;
  /** Of a scenario that runs: the robots that were added before its first step, and its part `robots:` with them. */
  added?: string[];
  robots_text?: string;
}

/** A layer of what an add-on or a sensor draws. */
export type Drawn = `addon:${string}` | `sensor:${string}`;

export interface Result {
  folder: string;
  status: string;
  metrics: [name: string, value: number | string | boolean, meaning: string][];
}

export interface RobotInfo {
  name: string;
  kind: string;
  discs: [number, number, number][];
  group?: string;
  /** x, y [m], heading [rad] at the start. */
  start?: [number, number, number];
}

export interface TargetInfo {
  kind: string;
  identity: number;
  position_m: [number, number, number];
}

export interface Place {
  rows: number;
  columns: number;
  resolution_m: number;
  origin: [number, number, number];
}

export interface WorldInfo extends Place {
  name: string;
  wall_height_m: number;
  doors: DoorInfo[];
  ground: boolean;
  /** Corners of the workspace [m], if it is a polygon. */
  workspace_m?: [number, number][];
}

/** A door: a rectangle [m], and whether it is open at the start. */
export interface DoorInfo {
  name: string;
  x0_m: number;
  y0_m: number;
  x1_m: number;
  y1_m: number;
  open: boolean;
}

export interface EventInfo {
  step: number;
  time_s: number;
  kind: EventKind;
  robot?: string;
  other?: string;
  x: number | null;
  y: number | null;
  /** For people only: programs read the data. */
  text?: string;
  data?: EventData;
  /** Of what a viewer has asked for: who, the number of the change, and that of the one that it takes back or does again. */
  by?: number;
  edit?: number;
  undoes?: number;
  redoes?: number;
  /** Of an input: whether it was refused, and whether nothing takes it back. */
  refused?: boolean;
  final?: boolean;
}

/** An event as in a scenario, such as {door: "d3", to: "closed"}. */
export type Deed = Record<string, unknown>;

/** What a viewer can take back and do again, and what waits for the next step, see covey/viewer/edits.py. */
export interface EditsInfo {
  viewer: number;
  undo: Deed | null;
  redo: Deed | null;
  waiting: { by: number; kind: "do" | "undo" | "redo" | "drive"; deeds: Deed[] }[];
}

/** The header of a frame; its arrays are pose (n, 3), flags (n,), trail_step, trail_pose, tiles:*, cells:* … */
export interface FrameHeader {
  type: "frame";
  frame: number;
  step: number;
  time_s: number;
  status: string | null;
  playing: boolean;
  factor: number | null;
  /** Number of steps that viewers have asked for and are still to come. */
  steps?: number;
  team?: Record<string, number | null>;
  events: EventInfo[];
  links: [number, number, number, number][];
  [detail: string]: unknown;
}
