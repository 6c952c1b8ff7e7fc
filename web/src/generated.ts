/** Made by web/generate.py from the records of covey/viewer and covey/results/event_data.py. */

export const PROTOCOL = "covey.1";

/** What a page may send. */
export type ToServer =
  | { type: "ack"; frame: number }
  | { type: "watch"; layers?: string[]; details?: string[]; robots?: number[]; rate_hz?: number }
  | { type: "probe"; x: number; y: number }
  | { type: "play" }
  | { type: "pause" }
  | { type: "speed"; factor: number | null }
  | { type: "step"; count?: number }
  | { type: "end" }
  | { type: "do"; event: Record<string, unknown> }
  | { type: "undo" }
  | { type: "redo" }
  | { type: "me"; key: string }
  | { type: "drive"; robot: string; twist: [number, number] | null }
  | { type: "add"; group?: string; pose: [number, number, number] | null }
  | { type: "form"; name: string; changes?: Record<string, string> }
  | { type: "launch"; name: string; changes?: Record<string, string>; speed?: string; paused?: boolean }
  | { type: "open"; run: string }
  | { type: "quit"; run: string };

/** Layers of cells of the team. */
export type TeamLayer =
  | "first_covered"
  | "first_explored"
  | "ground"
  | "last_covered"
  | "last_explored"
  | "other_explored"
  | "passed_by"
  | "searched_walls"
  | "seen_by"
  | "truth"
  | "union"
  | "visits";

/** Kinds of layers of a robot or a group. */
export type PartLayer =
  | "altitude"
  | "error"
  | "explored"
  | "first_seen"
  | "interval"
  | "last_seen"
  | "map"
  | "overlap"
  | "visits";

/** What a page can watch beside layers of cells. */
export type Detail =
  | "estimates"
  | "inspector"
  | "lidar"
  | "links"
  | "measures"
  | "messages"
  | "paths"
  | "statuses"
  | "tags"
  | "targets"
  | "visible"
  | "waypoints";

/** The kinds of events. */
export type EventKind =
  | "change_noticed"
  | "collision"
  | "controller_failed"
  | "door_closed"
  | "door_opened"
  | "door_waits"
  | "drive_over"
  | "driven"
  | "exhausted"
  | "fault"
  | "fell"
  | "freed"
  | "frontier_left"
  | "gave_up"
  | "goal"
  | "ground_changed"
  | "ground_saved"
  | "input"
  | "jam"
  | "jam_over"
  | "left_world"
  | "maps_aligned"
  | "mission"
  | "note"
  | "obstacle_added"
  | "obstacle_removed"
  | "obstacle_waits"
  | "odometry_contradicted"
  | "order"
  | "placed"
  | "recovered"
  | "refused"
  | "righted"
  | "rolled"
  | "sensor_heard"
  | "sensor_silent"
  | "sighted"
  | "stands"
  | "stands_over"
  | "stuck"
  | "tag_left"
  | "wall_added"
  | "wall_removed";

/** A camera first reads a marker (``sighted``). */
export interface Sighted {
  target: string;
  is_true: boolean;
}

/** A robot reports a target (``mission``). */
export interface Reported {
  reported: number;
  x_m: number;
  y_m: number;
  answer: string;
}

/** The last robot of a meeting has come (``mission``). */
export interface Met {
  meeting: unknown;
  target: string;
}

/** A robot was carried (``placed``). */
export interface Placed {
  before: number[];
}

/** A robot is driven by hand or sent to a place, or is there (``driven``). */
export interface Driven {
  twist?: number[];
  goal_m?: number[];
  is_there?: boolean;
}

/** An area without radio (``jam``): a polygon, or a disc. */
export interface Jammed {
  polygon_m?: [number, number][];
  centre_m?: [number, number];
  radius_m?: number;
}

/** A robot has searched for the frame of another one (``maps_aligned``). */
export interface Aligned {
  verdict: string;
  dx_m?: number;
  dy_m?: number;
  heading_deg?: number;
  confidence?: number;
  error_m?: number;
  error_deg?: number;
  refused?: string;
}

/** The scans of a robot contradict its odometry, step after step (``odometry_contradicted``). */
export interface OdometryContradicted {
  share: number;
  way_m: number;
}

/** What an event says, by name: which names there are depends on its kind; those of an input are its own. */
export type EventData = Partial<Sighted & Reported & Met & Placed & Driven & Jammed & Aligned & OdometryContradicted> & Record<string, unknown>;
