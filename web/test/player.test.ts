import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Model } from "../src/model";
import { LivePlayer } from "../src/player";
import { frame, model, Sent } from "./helpers";

describe("playback of a run that lasts", () => {
  let [one, sent, player] = [] as unknown as [Model, Sent, LivePlayer];
  beforeEach(() => {
    one = model();
    sent = new Sent();
    player = new LivePlayer(one, sent, () => {});
    for (let step = 0; step <= 20; step++) one.takeFrame(...frame(step, { playing: true, factor: 2 }));
  });

  it("at the present plays, pauses, steps and speeds up the simulation", () => {
    player.pause();
    player.play();
    player.step(3);
    player.speed(5);
    expect(sent.messages).toEqual([{ type: "pause" }, { type: "play" }, { type: "step", count: 3 }, { type: "speed", factor: 5 }]);
    expect([player.playing, player.factor, player.looksBack]).toEqual([true, 2, false]);
  });

  it("in the past leaves the simulation alone", () => {
    player.step(-4);
    expect([one.step(), player.looksBack, player.playing]).toEqual([16, true, false]);
    player.speed(50);
    player.step(1);
    player.step(-2);
    vi.stubGlobal("requestAnimationFrame", () => 0);
    player.play();
    expect(player.playing).toBe(true);
    player.pause();
    vi.unstubAllGlobals();
    expect(player.factor).toBe(50);
    expect(one.step()).toBe(15);
    expect(sent.messages).toEqual([]);
    player.seek(null);
    expect([player.factor, player.playing, player.looksBack]).toEqual([2, true, false]);
  });

  it("says how many steps are to go, and can be paused then", () => {
    one.takeFrame(...frame(21, { playing: false, steps: 9 }));
    expect([player.playing, player.stepsLeft]).toEqual([true, 9]);
    one.takeFrame(...frame(30, { playing: false, steps: 0 }));
    expect([player.playing, player.stepsLeft]).toEqual([false, 0]);
  });

  it("plays the past of a run that has ended, at a speed of its own", () => {
    one.takeFrame(...frame(21, { status: "reached" }));
    player.speed(10);
    player.step(1);
    expect([player.factor, player.ends, sent.messages]).toEqual([10, false, []]);
  });
});
