import { describe, expect, it } from "vitest";
import { givenUp, groups, lackOf, LAYERS, Room, theRobot, type Context } from "../src/layers";
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
