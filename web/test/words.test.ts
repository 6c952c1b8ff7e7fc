import { expect, it } from "vitest";
import { wordsOf } from "../src/ui/words";

it("names measurements with their units", () => {
  const names = ["explored_share", "distance_m", "speed_m_s", "graph_idleness_s", "area_m2", "energy_j", "collisions", "error_m"];
  expect(names.map(wordsOf)).toEqual(["explored share", "distance [m]", "speed [m/s]", "graph idleness [s]", "area [m²]", "energy [J]", "collisions", "error of the estimate [m]"]);
});
