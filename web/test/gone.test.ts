import { expect, it } from "vitest";
import { whyGone } from "../src/gone";
import { frame, hello } from "./helpers";

const at = (more = {}) => ({ frame: frame(382, more)[0], hello: hello({ record: "runs/maze/1" }) });

it("tells a server that was ended from one that was killed, and where the record is", () => {
  expect(whyGone("ended", at(), "")).toBe("Covey was ended at 38.2 s, by Ctrl-C or with its terminal. Its record is in runs/maze/1. The page keeps what it has.");
  expect(whyGone("lost", at(), "")).toMatch(/lost at 38.2 s: covey was killed, or the network is down. What it had written of its record is in runs\/maze\/1. Trying again/);
});

it("says that another server is there in place of the one that was lost", () => {
  expect(whyGone("replaced", at(), "")).toBe("Another covey answers at this address now. The page keeps what it has of the run before until 38.2 s. Its record is in runs/maze/1. Open the address that covey printed.");
});

it("says how a run has ended", () => {
  expect(whyGone("lost", at({ status: "timeout" }), "")).toBe("The run has ended at 38.2 s: time is up. Its record is in runs/maze/1. The page keeps what it has.");
  expect(whyGone("ended", at({ status: "reached" }), "#from=study")).toMatch(/goal reached. Its record opens from the study/);
});

it("does not blame the token where nobody is", () => {
  const nothing = { frame: null, hello: null };
  expect(whyGone("refused", nothing, "")).toMatch(/refuses this page/);
  expect(whyGone("absent", nothing, "#from=study")).toBe("The run had ended when this page opened. Its record opens from the study.");
  expect(whyGone("absent", nothing, "")).toMatch(/Nobody answers/);
});
