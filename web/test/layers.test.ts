import { describe, expect, it } from "vitest";
import { driven, givenUp, groups, lackOf, LAYERS, Room, theRobot, type Context } from "../src/layers";
import type { Pen } from "../src/scene/overlay";
import { THEMES } from "../src/theme";
import { textOf } from "../src/ui/events";
import { event, frame, hello, model } from "./helpers";

const layer = (name: string) => LAYERS.find((one) => one.name === name)!;

describe("layers", () => {
  it("say what is known of now only, while the past of a run that lasts is shown", () => {
    const one = model();
    one.takeFrame(...frame(5));
    const lack = (name: string) => lackOf(layer(name), { model: one, hello: one.hello! } as Context);
    one.select([0]);
    expect(["lidar", "links", "tags", "explored"].map(lack)).toEqual(["", "", "", ""]);
    one.shown = 3;
    expect(["lidar", "paths"].map(lack)).toEqual(Array(2).fill("Known of now only, until the run has ended."));
    expect(["links", "tags", "explored"].map(lack)).toEqual(["", "", ""]);
    one.hello = hello({ mode: "replay" });
    expect(lack("lidar")).toBe("");
  });

  it("of one robot are about the one that was selected last", () => {
    const one = model();
    expect(theRobot(one)).toBeNull();
    one.selected = new Set([1, 0]);
    expect(theRobot(one)).toBe("robot0");
  });

  it("covered cells are those that were covered first by then, where that is known", () => {
    const cells = (layers: string[]) => layer("covered").cells!(model({ layers }));
    expect([cells(["last_covered", "first_covered"]), cells(["last_covered"])]).toEqual([["first_covered"], ["last_covered"]]);
  });

  it("show what has been given up by the time that is shown", () => {
    const one = model();
    const events = [event(3, "gave_up", { x: 1, y: 2 }), event(5, "frontier_left", { x: 3, y: 4 }), event(6, "gave_up")];
    one.takeFrame(...frame(8, { events }));
    expect(givenUp(one)).toMatchObject({ goals: [[1, 2]], frontiers: [[3, 4]] });
    one.shown = 4;
    expect(givenUp(one)).toMatchObject({ goals: [[1, 2]], frontiers: [] });
    one.shown = 2;
    expect(givenUp(one)).toMatchObject({ goals: [], frontiers: [] });
  });

  it("say who had been sent where, or was driven, by the time that is shown", () => {
    const one = model();
    const sent = event(3, "driven", { robot: "robot0", data: { goal_m: [1, 2], is_there: false } });
    const by_keys = event(4, "driven", { robot: "robot1", data: { twist: [0.5, 0] } });
    one.takeFrame(...frame(8, { events: [sent, by_keys, event(5, "drive_over", { robot: "robot0" })] }));
    const at = (step: number) => [...driven(one, step)];
    expect([2, 3, 4, 5].map(at)).toEqual([[], [["robot0", [1, 2]]], [["robot0", [1, 2]], ["robot1", null]], [["robot1", null]]]);
    expect(at(3)).toEqual([["robot0", [1, 2]]]);
  });

  it("of paths is the place to which a robot was sent, in place of its own plan", () => {
    const lines: unknown[] = [];
    const pen = { view: { pixel_m: 0.1 }, line: (points: unknown) => lines.push(points), ring: () => 0 } as unknown as Pen;
    const one = model();
    const [header, arrays] = frame(0);
    arrays.set("path", { data: Float32Array.of(3, 0, 0, 3), shape: [2, 2] }).set("path_of", { data: Int32Array.of(0, 1, 2), shape: [3] });
    one.takeFrame({ ...header, events: [event(0, "driven", { robot: "robot1", data: { goal_m: [5, 0] } })] }, arrays);
    one.arrays = arrays;
    layer("paths").draw!(pen, { model: one, hello: one.hello!, colors: THEMES.light, radius: () => 10 } as unknown as Context);
    expect(lines).toEqual([[[1, 0], [3, 0]], [[1, 0], [5, 0]]]);
  });

  it("of words are drawn over all others", () => {
    expect(LAYERS.filter((one) => one.words).map((one) => one.name)).toEqual(["numbers", "names", "notes"]);
  });

  it("connect robots over hops", () => {
    expect(groups([[0, 1], [1, 2], [4, 3]], 6)).toEqual([0, 0, 0, 1, 1, 2]);
  });
});

describe("room for words", () => {
  const room = new Room([[100, 100, 10], [130, 100, 10], [100, 300, 60]]);
  it("is not on a neighbour's disc", () => {
    expect(room.isFree(114, 100, 8, 0)).toBe(false); // it ends 3 pixels before a disc of radius 10 at 130, and begins on it
    expect(room.isFree(78, 100, 8, 0)).toBe(true);
    expect(room.isFree(95, 82, 8, 0)).toBe(true);
    expect(room.isFree(155, 300, 8, 1)).toBe(false);
  });
  it("may be on the own disc", () => {
    expect(room.isFree(96, 100, 8, 0)).toBe(true);
    expect(room.isFree(96, 100, 8, 1)).toBe(false);
  });
});

it("events are told in words", () => {
  const input = event(3, "input", { data: { at_step: 2, door: "d3", to: "closed" } });
  expect(textOf(input)).toBe("input – close door d3");
  expect(textOf(event(3, "jam", { other: "jam 1", data: { centre_m: [0, 0], radius_m: 3 } }))).toBe("jam – jam 1");
  expect(textOf(event(3, "placed", { robot: "r1", text: "from [1, 2, 3]" }))).toBe("placed r1");
  expect(textOf(event(3, "fault", { robot: "r1", other: "dies" }))).toBe("fault r1 – dies");
});
