/** The tools of the Edit panel: for each its form, how it is drawn in the scene, and the event that it makes. */

import type { Hello } from "../messages";
import type { Deed } from "./session";

export type Values = Record<string, string>;

/** How a tool is drawn: it fills the fields of these names. */
export const GESTURES = {
  point: ["x", "y"],
  line: ["x", "y", "x2", "y2"],
  box: ["left", "bottom", "right", "top"],
  disc: ["x", "y", "radius"],
  brush: ["x", "y"],
  robot: ["robot", "x", "y"],
  pose: ["x", "y", "heading"],
} as const;
export type Gesture = keyof typeof GESTURES;

export interface Field {
  name: string;
  label: string;
  value: string | number;
  options?: string[];
  /** Takes the whole width. */
  wide?: boolean;
  /** Is text, not a number. */
  text?: boolean;
  /** May be empty. */
  optional?: boolean;
}

/** What decides on the tools of now. */
export interface Now {
  /** Whether the first step is done. */
  begun: boolean;
  /** Names of the robots that are driven, or sent to a place. */
  driven: ReadonlyMap<string, unknown>;
}

export interface Tool {
  name: string;
  title: string;
  group: string;
  verb: string;
  gesture?: Gesture;
  help?: string;
  there?: (hello: Hello) => boolean;
  /** Why it cannot be used; empty: it can. */
  lacks?: (hello: Hello, now: Now) => string;
  fields: (hello: Hello) => Field[];
  deed: (values: Values) => Deed;
}

const n = (values: Values, name: string): number => Number(values[name]);
const pair = (values: Values, x = "x", y = "y"): [number, number] => [n(values, x), n(values, y)];
const number = (name: string, label: string, value: number | string = ""): Field => ({ name, label, value });
const at = [number("x", "x [m]"), number("y", "y [m]")];
const line = [number("x", "From x [m]"), number("y", "From y [m]"), number("x2", "To x [m]"), number("y2", "To y [m]")];
const box = [number("left", "Left [m]"), number("bottom", "Bottom [m]"), number("right", "Right [m]"), number("top", "Top [m]")];
const lasting: Field = { name: "for_s", label: "For [s]", value: "", optional: true };
const robots = (hello: Hello): string[] => hello.robots.map((robot) => robot.name);
const groups = (hello: Hello): string[] => [...new Set(hello.robots.map((robot) => robot.group!))];
const ground = (hello: Hello): boolean => hello.world.ground;
const boxed = (values: Values): number[] => [
  Math.min(n(values, "left"), n(values, "right")),
  Math.min(n(values, "bottom"), n(values, "top")),
  Math.max(n(values, "left"), n(values, "right")),
  Math.max(n(values, "bottom"), n(values, "top")),
];
const corners = (values: Values): number[][] => {
  const [left, bottom, right, top] = boxed(values);
  return [[left, bottom], [right, bottom], [right, top], [left, top]];
};
const during = (values: Values): Deed => (values.for_s ? { for_s: n(values, "for_s") } : {});

function bowl(name: string, title: string, size: string): Tool {
  return {
    name,
    title,
    group: "Ground",
    verb: `Make ${name}`,
    gesture: "disc",
    help: "Drag from its centre to its rim.",
    there: ground,
    fields: () => [...at, number("radius", "Radius [m]", 2), number(size, `${size === "depth" ? "Depth" : "Height"} [m]`, 0.5)],
    deed: (v) => ({ [name]: { centre_m: pair(v), radius_m: n(v, "radius"), [`${size}_m`]: n(v, size) } }),
  };
}

function strip(name: string, title: string, size: string): Tool {
  return {
    name,
    title,
    group: "Ground",
    verb: `Make ${name}`,
    gesture: "line",
    help: "Drag from one end to the other.",
    there: ground,
    fields: () => [...line, number("width", "Width [m]", 1), number(size, `${size === "depth" ? "Depth" : "Height"} [m]`, 0.5)],
    deed: (v) => ({ [name]: { from: pair(v), to: pair(v, "x2", "y2"), width_m: n(v, "width"), [`${size}_m`]: n(v, size) } }),
  };
}

export const TOOLS: Tool[] = [
  {
    name: "wall",
    title: "Wall",
    group: "World",
    verb: "Put up wall",
    gesture: "line",
    help: "Drag from one end to the other.",
    fields: () => [...line, number("thickness", "Thickness [m]", 0.2)],
    deed: (v) => ({ wall: { from: pair(v), to: pair(v, "x2", "y2"), thickness_m: n(v, "thickness") } }),
  },
  {
    name: "obstacle",
    title: "Moving obstacle",
    group: "World",
    verb: "Add obstacle",
    gesture: "line",
    help: "Drag along its way.",
    fields: () => [
      ...line,
      number("radius", "Radius [m]", 0.3),
      number("speed", "Speed [m/s]", 0.5),
      { name: "repeat", label: "At the end", value: "back_and_forth", options: ["back_and_forth", "loop", "once"], wide: true },
    ],
    deed: (v) => ({
      obstacle: { path_m: [pair(v), pair(v, "x2", "y2")], radius_m: n(v, "radius"), speed_m_s: n(v, "speed"), repeat: v.repeat },
    }),
  },
  {
    name: "tear",
    title: "Tear down walls",
    group: "World",
    verb: "Tear down",
    gesture: "box",
    help: "Drag over the walls that are to fall.",
    fields: () => box,
    deed: (v) => ({ remove: { polygon_m: corners(v) } }),
  },
  {
    name: "place",
    title: "Place a robot",
    group: "Robots",
    verb: "Place robot",
    gesture: "robot",
    help: "Drag a robot to its new place.",
    fields: (hello) => [
      { name: "robot", label: "Robot", value: robots(hello)[0], options: robots(hello), wide: true },
      ...at,
      number("heading", "Heading [°]", 0),
    ],
    deed: (v) => ({ place: v.robot, pose: [...pair(v), n(v, "heading")] }),
  },
  {
    name: "add",
    title: "Add a robot",
    group: "Robots",
    verb: "Add robot",
    gesture: "pose",
    help: "Before the first step: click where it is to start, and drag to where it is to look.",
    there: (hello) => hello.added !== undefined,
    lacks: (_, { begun }) => (begun ? "only before the first step" : ""),
    fields: (hello) => [
      { name: "group", label: "Group", value: groups(hello)[0], options: groups(hello), wide: true },
      ...at,
      number("heading", "Heading [°]", 0),
    ],
    deed: (v) => ({ add: v.group, pose: [...pair(v), n(v, "heading")] }),
  },
  {
    name: "goto",
    title: "Go to",
    group: "Robots",
    verb: "Send robot",
    gesture: "robot",
    help: "Drag from a robot to the place, or select a robot and right click the place. It goes there by itself and waits, until it is released.",
    fields: (hello) => [{ name: "robot", label: "Robot", value: robots(hello)[0], options: robots(hello), wide: true }, ...at],
    deed: (v) => ({ drive: v.robot, to: pair(v) }),
  },
  {
    name: "release",
    title: "Release a robot",
    group: "Robots",
    verb: "Release robot",
    help: "It follows its controller again.",
    lacks: (_, { driven }) => (driven.size ? "" : "no robot is sent or driven"),
    fields: (hello) => [{ name: "robot", label: "Robot", value: robots(hello)[0], options: robots(hello), wide: true }],
    deed: (v) => ({ drive: v.robot }),
  },
  {
    name: "order",
    title: "Order and formation",
    group: "Robots",
    verb: "Give order",
    gesture: "point",
    help: "Click the objective of the team.",
    lacks: (hello) => (hello.orders ? "" : "no controller here takes orders"),
    fields: () => [
      ...at,
      { name: "formation", label: "Formation", value: "hexagon", options: ["hexagon", "pentagon", "rank"] },
      number("spacing", "Spacing [m]", 2),
      number("facing", "Facing [°]", 0),
      { name: "mode", label: "Mode", value: "leap_of_faith", options: ["leap_of_faith", "look_before_leap"] },
    ],
    deed: (v) => ({
      order: { objective_m: pair(v), formation: v.formation, spacing_m: n(v, "spacing"), facing_deg: n(v, "facing"), mode: v.mode },
    }),
  },
  {
    name: "fault",
    title: "Fault, radio off",
    group: "Robots",
    verb: "Give fault",
    fields: (hello) => [
      { name: "kind", label: "Fault", value: "radio_dies", options: ["radio_dies", "dies", "sensor", "wheel_sticks", "wheels_slip", "localization_jumps"], wide: true },
      { name: "robot", label: "Robot", value: robots(hello)[0], options: [...robots(hello), "any", "all"] },
      lasting,
      { name: "sensor", label: "Sensor", value: "lidar", text: true },
      { name: "wheel", label: "Wheel", value: "left", options: ["left", "right"] },
    ],
    deed: (v) => ({
      kind: v.kind,
      robot: v.robot,
      ...(v.kind === "sensor" ? { sensor: v.sensor } : v.kind === "wheel_sticks" ? { wheel: v.wheel } : {}),
      ...during(v),
    }),
  },
  {
    name: "jam",
    title: "Jam the radio",
    group: "Robots",
    verb: "Jam area",
    gesture: "disc",
    help: "Drag from the centre of the area to its edge.",
    fields: () => [...at, number("radius", "Radius [m]", 3), lasting],
    deed: (v) => ({ jam: { centre_m: pair(v), radius_m: n(v, "radius") }, ...during(v) }),
  },
  bowl("crater", "Crater", "depth"),
  bowl("mound", "Mound", "height"),
  strip("trench", "Trench", "depth"),
  strip("bank", "Bank", "height"),
  {
    name: "altitude",
    title: "Set altitude",
    group: "Ground",
    verb: "Set altitude",
    gesture: "box",
    help: "Drag over the ground that gets the altitude.",
    there: ground,
    fields: () => [...box, number("to", "Altitude [m]", 0)],
    deed: (v) => ({ altitude: { box_m: boxed(v), to_m: n(v, "to") } }),
  },
  {
    name: "shift",
    title: "Raise or lower",
    group: "Ground",
    verb: "Raise or lower",
    gesture: "box",
    help: "Drag over the ground that rises; a negative number lowers it.",
    there: ground,
    fields: () => [...box, number("by", "By [m]", 0.2)],
    deed: (v) => ({ shift: { box_m: boxed(v), by_m: n(v, "by") } }),
  },
  {
    name: "brush",
    title: "Brush",
    group: "Ground",
    verb: "Dab",
    gesture: "brush",
    help: "Paint: each dab raises the ground below it; a negative number lowers it.",
    there: ground,
    fields: () => [...at, number("radius", "Radius [m]", 1), number("by", "By [m]", 0.1)],
    deed: (v) => ({ shift: { centre_m: pair(v), radius_m: n(v, "radius"), by_m: n(v, "by") } }),
  },
  {
    name: "save",
    title: "Save as a file",
    group: "Ground",
    verb: "Save ground",
    help: "The file is written into the folder of the run, under grounds.",
    there: ground,
    fields: () => [{ name: "file", label: "File", value: "ground.npz", text: true, wide: true }],
    deed: (v) => ({ save_ground: v.file }),
  },
];
