/** Colours: for colour-blind readers too (Okabe & Ito 2008), light and dark. */

const ROBOTS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8c7a00", "#666666"];

/** The colour of a robot of a team of n. */
export function robotColor(i: number, n: number): string {
  return n <= 2 * ROBOTS.length ? ROBOTS[i % ROBOTS.length] : `hsl(${Math.round((360 * i * 0.618) % 360)}, 65%, 45%)`;
}

export const THEMES = {
  light: { sky: "#eef1f4", wall: "#2b3440", free: "#c6ccd3", explored: "#ffffff", unknown: "#8a949f" },
  dark: { sky: "#12161b", wall: "#d5dbe1", free: "#2c343d", explored: "#4b5662", unknown: "#1b2127" },
};
export type Theme = keyof typeof THEMES;
