import { expect, it } from "vitest";
import { achieved, clock, firstPlot, Pace } from "../src/ui/progress";
import { frame, model } from "./helpers";

it("says how far the mission is at the time that is shown, and of now what is left", () => {
  const one = model({ timeout_s: 100 });
  for (const step of [100, 300]) one.takeFrame(...frame(step));
  expect(achieved(one, true)).toBe("explored 30.0 % · 1:10 left");
  expect(achieved(one, false)).toBe("explored 30.0 %");
  one.shown = 150;
  expect(achieved(one, true)).toBe("explored 10.0 %");
});

it("of a rescue says the score, the targets and the time", () => {
  const targets = [1, 2, 3].map((identity) => ({ kind: "victim", identity, position_m: [0, 0, 0] as [number, number, number] }));
  const one = model({ mission: { kind: "rescue", time_limit_s: 600 }, targets });
  one.takeFrame(...frame(100, { team: { score: 45, targets_found: 2 } }));
  expect(achieved(one, true)).toBe("score 45 · found 2 of 3 · 9:50 left");
});

it("says the time that is left, also of a run in which nothing is measured", () => {
  const one = model({ timeout_s: 60, layers: ["truth"] });
  one.takeFrame(...frame(100, { team: { explored_share_union: null } }));
  expect(achieved(one, true)).toBe("0:50 left");
});

it("begins with the plot of the mission; where nothing is seen, with that of the speed", () => {
  const explores = model();
  expect(firstPlot(explores)).toBeNull();
  explores.takeFrame(...frame(100));
  expect(firstPlot(explores)).toBe("team explored_share_union");
  const rescues = model({ mission: { kind: "rescue" } });
  rescues.takeFrame(...frame(100, { team: { explored_share_union: 0.1, score: 4 } }));
  expect(firstPlot(rescues)).toBe("team score");
  const blind = model({ layers: ["truth"] });
  blind.takeFrame(...frame(100, { team: { explored_share_union: null } }));
  expect(firstPlot(blind)).toBeNull();
  blind.measured.take(10, {}, new Map([["speed_m_s", [0.1, 0.2]]]));
  expect(firstPlot(blind)).toBe("robot speed_m_s");
});

it("writes times as clocks do", () => {
  expect([0, 59.2, 60, 3601, -3].map(clock)).toEqual(["0:00", "1:00", "1:00", "1:00:01 h", "0:00"]);
});

it("measures how fast a run goes, also after a pause", () => {
  const pace = new Pace();
  for (let k = 0; k <= 20; k++) pace.take(k / 10, 16 * (k / 10));
  expect(pace.factor).toBeCloseTo(16);
  pace.take(10, 33);
  expect(pace.factor).toBeNull();
  for (let k = 1; k <= 10; k++) pace.take(10 + k / 10, 33 + k / 5);
  expect(pace.factor).toBeCloseTo(2);
});
