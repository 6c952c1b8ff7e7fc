/** Colours: for colour-blind readers too (Okabe & Ito 2008), light and dark. */

const ROBOTS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8c7a00", "#666666"];

/** The colour of a robot of a team of n. */
export function robotColor(i: number, n: number): string {
  return n <= 2 * ROBOTS.length ? ROBOTS[i % ROBOTS.length] : `hsl(${Math.round((360 * i * 0.618) % 360)}, 65%, 45%)`;
}

export const THEMES = {
  light: {
    sky: "#eef1f4",
    wall: "#2b3440",
    free: "#c6ccd3",
    explored: "#ffffff",
    unknown: "#8a949f",
    covered: "#a8dcc9",
    mapFree: "#d8ecf9",
    mapWall: "#0b4a78",
    frontier: "#d55e00",
    ink: "#1a2027",
    paper: "#ffffff",
    accent: "#b3008c",
    link: "#5b6b7b",
    place: "#0072b2",
    bad: "#b8480a",
    searched: "#00a878",
    left: "#e0218a",
  },
  dark: {
    sky: "#12161b",
    wall: "#d5dbe1",
    free: "#2c343d",
    explored: "#4b5662",
    unknown: "#1b2127",
    covered: "#1f6a54",
    mapFree: "#24506f",
    mapWall: "#9fd4f7",
    frontier: "#ff8a3c",
    ink: "#f2f5f7",
    paper: "#12161b",
    accent: "#ff7ad9",
    link: "#94a3b2",
    place: "#56b4e9",
    bad: "#ff8a3c",
    searched: "#2fd6a3",
    left: "#ff6cb8",
  },
};
export type Theme = keyof typeof THEMES;
export type Colors = (typeof THEMES)["light"];

/** Stops of a colour scale from 0 to 1 (viridis, by S. van der Walt and N. Smith, CC0). */
export const SCALE = ["#440154", "#414487", "#2a788e", "#22a884", "#7ad151", "#fde725"];
