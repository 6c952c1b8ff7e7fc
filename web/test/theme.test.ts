import { describe, expect, it } from "vitest";
import { contrast, lineColor, robotColor, THEMES } from "../src/theme";

describe("the colours of robots", () => {
  it("have the contrasts of WCAG", () => {
    expect(contrast("#000000", "#ffffff")).toBeCloseTo(21, 9);
    expect(contrast("#777777", "#ffffff")).toBeCloseTo(4.48, 2); // the well-known grey that just fails 4.5
  });

  it("stand out as lines on the dark ground, explored or not, in teams of any size", () => {
    for (const n of [1, 8, 9, 30])
      for (let i = 0; i < n; i++)
        for (const ground of [THEMES.dark.explored, THEMES.dark.free, THEMES.dark.unknown])
          expect(contrast(lineColor(i, n, THEMES.dark), ground)).toBeGreaterThanOrEqual(3);
  });

  it("are those of the figures on the light ground", () => {
    expect(lineColor(0, 4, THEMES.light)).toBe(robotColor(0, 4));
  });
});
