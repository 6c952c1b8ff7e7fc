import { describe, expect, it } from "vitest";
import { linksAt, stateAt } from "../src/then";
import { LivePlayer } from "../src/player";
import { TILE } from "../src/model";
import { known } from "../src/past";
import { event, frame, model, PLACE, Sent } from "./helpers";

describe("the history of a run that lasts", () => {
  it("has poses and measurements of the mission at the same steps, also of a trail", () => {
    const one = model();
    one.takeFrame(...frame(1));
    const [header, arrays] = frame(4);
    arrays.set("trail_step", { data: Int32Array.of(2, 3, 4), shape: [3] });
    arrays.set("trail_pose", { data: Float32Array.from({ length: 18 }, (_, k) => 2 + Math.floor(k / 6)), shape: [3, 2, 3] });
    arrays.set("trail_team:explored_share_union", { data: Float64Array.of(0.002, NaN, 0.004), shape: [3] });
    one.takeFrame(header, arrays);
    expect(one.history.map(({ step, pose }) => [step, pose![0]])).toEqual([[1, 1], [2, 2], [3, 3], [4, 4]]);
    expect(one.times.map((time_s) => Math.round(10 * time_s))).toEqual([1, 2, 3, 4]);
    expect(one.series.get("explored_share_union")).toEqual([0.001, 0.002, null, 0.004]);
  });

  it("is as long for all when it is thinned", () => {
    const one = model();
    for (let last = 499; last < 30_000; last += 500) {
      const [header, arrays] = frame(last);
      const steps = Int32Array.from({ length: 500 }, (_, k) => last - 499 + k);
      arrays.set("trail_step", { data: steps, shape: [500] });
      arrays.set("trail_pose", { data: new Float32Array(3000), shape: [500, 2, 3] });
      arrays.set("trail_team:explored_share_union", { data: Float64Array.from(steps, (step) => step / 1000), shape: [500] });
      one.takeFrame(header, arrays);
    }
    expect(one.history.length).toBeLessThan(24_000);
    expect(one.times.length).toBe(one.history.length);
    expect(one.series.get("explored_share_union")!.filter((share, k) => share !== one.history[k].step / 1000)).toEqual([]);
  });

  it("has no measurement, rather than NaN, at the times of which a frame of several lacks it", () => {
    const one = model();
    const [header, arrays] = frame(21, { measures_then: ["traffic_out_bytes"] } as object);
    arrays.set("time_s", { data: Float64Array.of(0.1, 1.1, 2.1), shape: [3] });
    arrays.set("measures_then", { data: Float32Array.of(NaN, NaN, 1, 2, 3, 4), shape: [3, 1, 2] });
    arrays.set("team_measure:traffic_bytes", { data: Float64Array.of(NaN, 3, 7), shape: [3] });
    one.takeFrame(header, arrays);
    expect(one.measured.team.get("traffic_bytes")).toEqual([null, 3, 7]);
    expect(one.measured.values.get("traffic_out_bytes")!.map((row) => known(row[1]))).toEqual([null, 2, 4]);
    expect(known(undefined)).toBeNull();
  });

  it("begins anew with another run", () => {
    const one = model();
    one.takeFrame(...frame(7, { events: [event(7, "collision")], links: [[7, 0, 1, 1]] }));
    one.begin(one.hello!);
    expect([one.history, one.times, one.events, one.linkChanges, [...one.series]]).toEqual([[], [], [], [], []]);
  });
});

describe("what a run told at a step of its past", () => {
  it("has the links that were up", () => {
    expect(linksAt([[1, 0, 1, 1], [4, 0, 2, 1], [6, 0, 1, 0]], 0)).toEqual([]);
    expect(linksAt([[1, 0, 1, 1], [4, 0, 2, 1], [6, 0, 1, 0]], 5)).toEqual([0, 1, 0, 2]);
    expect(linksAt([[1, 0, 1, 1], [4, 0, 2, 1], [6, 0, 1, 0]], 6)).toEqual([0, 2]);
  });

  it("has flags by the events, also when the time goes back", () => {
    const one = model();
    const events = [event(3, "fault", { robot: "robot0", other: "dies" }), event(5, "recovered", { robot: "robot0", other: "dies" }), event(6, "fault", { robot: "robot1", other: "radio_dies" })];
    one.takeFrame(...frame(9, { events }));
    const flags = (step: number) => [...stateAt(one, step).arrays.get("flags")!.data];
    expect([2, 3, 5, 6, 4].map(flags)).toEqual([[0, 0], [5, 0], [0, 0], [0, 4], [5, 0]]);
  });

  it("has the cells of the world as they were, and as they are at the present", () => {
    const one = model();
    new LivePlayer(one, new Sent(), () => {});
    const cells = (shown: number | null) => {
      one.shown = shown;
      one.changed();
      const { cells } = one.layers.get("truth")!;
      return [cells[0], cells[60]];
    };
    one.takeFrame(...frame(1));
    one.takeLayer("truth", PLACE, new Uint8Array(PLACE.rows * PLACE.columns));
    const [header, arrays] = frame(5);
    arrays.set("changed", { data: Int32Array.of(3, 0, 0, 1, 5, 60, 0, 1), shape: [2, 4] });
    one.takeFrame(header, arrays);
    expect([cells(null), cells(4), cells(2), cells(null)]).toEqual([[1, 1], [1, 0], [0, 0], [1, 1]]);
    cells(2); // a tile of now comes while the past is shown
    const [later, more] = frame(6);
    const tile = new Uint8Array(TILE * TILE);
    tile[0] = tile[TILE + 10] = 1;
    more.set("tiles:truth", { data: Int32Array.of(0), shape: [1] });
    more.set("cells:truth", { data: tile, shape: [1, TILE, TILE] });
    one.takeFrame(later, more);
    expect([cells(2), cells(null)]).toEqual([[0, 0], [1, 1]]);
  });
});
