import { describe, expect, it } from "vitest";
import { outlineOf } from "../src/edit/drawing";
import { scenarioText, Session, waits } from "../src/edit/session";
import type { EventInfo } from "../src/messages";
import { event, frame, model } from "./helpers";

const input = (step: number, deed: object, more: Partial<EventInfo>) => event(step, "input", { data: { at_step: step - 1, ...deed }, ...more });
const WALL = { wall: { from: [0, 0], to: [1, 0] }, name: "wall 1" };

function after(...events: EventInfo[]): Session {
  const one = model();
  const session = new Session();
  one.takeFrame(...frame(events.at(-1)!.step, { events }));
  session.update(one);
  return session;
}

describe("what was done in a run", () => {
  it("says who did it, and what has been taken back or done again", () => {
    const done = (...events: EventInfo[]) => after(...events).done.map(({ by, undone, isUndo }) => [by, undone, isUndo]);
    const put = input(1, WALL, { by: 2, edit: 1, refused: false, final: false });
    const back = input(2, { remove: "wall 1" }, { by: 2, edit: 2, undoes: 1, refused: false, final: false });
    const again = input(3, WALL, { by: 2, edit: 3, redoes: 1, refused: false, final: false });
    expect(done(put)).toEqual([[2, false, false]]);
    expect(done(put, back)).toEqual([[2, true, false], [2, false, true]]);
    expect(done(put, back, again)).toEqual([[2, false, false], [2, false, true], [2, false, false]]);
  });

  it("leaves out what was refused, and keeps refusals of viewers only", () => {
    const events = [
      event(1, "refused", { other: "wall 3", text: "nothing has this name", by: 1 }),
      input(1, { remove: "wall 3" }, { by: 1, edit: 1, refused: true, final: true }),
      event(1, "refused", { robot: "robot0", other: "gate" }), // of the scenario itself
    ];
    const { done, refusals } = after(...events);
    expect([done, refusals.map(({ by }) => by)]).toEqual([[], [1]]);
  });

  it("says what cannot be taken back", () => {
    const notes = after(
      input(1, { drive: "robot0", twist: [1, 0] }, { by: 1, edit: 1, refused: false, final: true }),
      input(1, { door: "d", to: "open" }, { by: 1, edit: 2, refused: false, final: true }),
      input(1, { door: "d", to: "closed" }, { by: 1, edit: 3, refused: false, final: false }),
    ).done.map(({ note }) => note);
    expect(notes).toEqual(["cannot be taken back", "changed nothing", ""]);
  });

  it("knows doors and jams of the time", () => {
    const { doors, jams } = after(
      event(1, "door_closed", { other: "d" }),
      event(2, "jam", { other: "jam 1", data: { centre_m: [1, 1], radius_m: 2 } }),
      event(5, "jam_over", { other: "jam 1" }),
      event(6, "door_opened", { other: "d" }),
    );
    expect([doors.get("d"), jams.map(({ from, to }) => [from, to])]).toEqual([true, [[2, 5]]]);
  });

  it("is text for a scenario", () => {
    const { done } = after(input(3, WALL, {}), input(5, { kind: "dies", robot: "robot1" }, {}));
    expect(scenarioText(done)).toBe("events:\n  - {at_step: 2, wall: {from: [0, 0], to: [1, 0]}, name: wall 1}\nfaults:\n  - {at_step: 4, kind: dies, robot: robot1}\n");
  });
});

it("what waits for the next step has an outline", () => {
  const door = { name: "d", x0_m: 0, y0_m: 0, x1_m: 1, y1_m: 2, open: true };
  expect(outlineOf({ door: "d", to: "closed" }, [door], new Map())).toEqual({ points: [[0, 0], [1, 0], [1, 2], [0, 2]], closed: true });
  expect(outlineOf(WALL, [], new Map())).toEqual({ points: [[0, 0], [1, 0]], closed: false });
  expect(outlineOf({ remove: { polygon_m: [[0, 0], [1, 0], [1, 1]] } }, [], new Map())!.closed).toBe(true);
  expect(outlineOf({ crater: { centre_m: [0, 0], radius_m: 1, depth_m: 1 } }, [], new Map())!.points.length).toBe(48);
  expect(outlineOf({ remove: "wall 1" }, [], new Map())).toBeNull();
});

it("what is removed or restored by name has the outline of what made it", () => {
  const torn = { remove: { polygon_m: [[0, 0], [1, 0], [1, 1]] }, name: "torn" };
  const session = after(input(1, WALL, {}), event(1, "wall_added", { other: "wall 1" }), input(2, torn, {}), event(2, "wall_removed", { other: "torn" }));
  expect(outlineOf({ remove: "wall 1" }, [], session.named)).toEqual({ points: [[0, 0], [1, 0]], closed: false });
  expect(outlineOf({ restore: "torn" }, [], session.named)!.points.length).toBe(3);
  expect([...session.standing]).toEqual(["wall 1"]);
  const { standing, named } = after(input(1, WALL, {}), event(1, "wall_added", { other: "wall 1" }), input(2, { remove: "wall 1" }, {}), event(2, "wall_removed", { other: "wall 1" }));
  expect([[...standing], named.has("wall 1")]).toEqual([[], true]);
});

it("a change of one's own waits, whoever has done something since", () => {
  const wall = { kind: "do" as const, deeds: [{ wall: {} }] };
  const edits = { viewer: 1, undo: null, redo: null, waiting: [{ by: 1, ...wall }, { by: 2, ...wall }] };
  expect([waits(edits), waits({ ...edits, viewer: 3 }), waits(null)]).toEqual([true, false, false]);
  expect(waits({ ...edits, waiting: [{ by: 1, ...wall, kind: "undo" }] })).toBe(false);
});
