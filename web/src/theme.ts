/** Colours: for colour-blind readers too (Okabe & Ito 2008), light and dark. */

/** The colours of robots, the same as in figures: `robot_color` in src/covey/results/figures/style.py. */
const ROBOTS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5230", "#5d3a9b"];
/** 256 colours (cividis, by J. Nuñez, C. Anderton and R. Renslow, CC0). */
const CIVIDIS =
  "00224e00234f00245100255300255400265600275800285900285b00295d002a5f002a61002b62002c64002c66002d68002e6a002e6c002f6d00306f" +
  "0030700031700031710132710533710833700c34700f357012357014367016377018376f1a386f1c396f1e3a6f203a6f213b6e233c6e243c6e263d6e" +
  "273e6e293f6e2a3f6d2b406d2d416d2e416d2f426d31436d32436d33446d34456c35456c36466c38476c39486c3a486c3b496c3c4a6c3d4a6c3e4b6c" +
  "3f4c6c404c6c414d6c424e6c434e6c444f6c45506c46516c47516c48526c49536c4a536c4b546c4c556c4d556c4e566c4f576c50576c51586d52596d" +
  "535a6d545a6d555b6d555c6d565c6d575d6d585e6d595e6e5a5f6e5b606e5c616e5d616e5e626e5e636f5f636f60646f61656f62656f636670646770" +
  "656870656870666970676a71686a71696b716a6c716b6d726c6d726c6e726d6f726e6f736f7073707173717274727274727374737475747475757575" +
  "7676767777767777777878777979777a7a787b7a787c7b787d7c787e7c787e7d787f7e78807f78817f78828079838179848279858279868379878478" +
  "8885788985788a86788b87788c88788d88788e89788f8a78908b78918b78928c78928d78938e78948e77958f779690779791779892779992779a9376" +
  "9b94769c95769d95769e96769f9775a09875a19975a29975a39a74a49b74a59c74a69c74a79d73a89e73a99f73aaa073aba072aca172ada272aea371" +
  "afa471b0a571b1a570b3a670b4a76fb5a86fb6a96fb7a96eb8aa6eb9ab6dbaac6dbbad6dbcae6cbdae6cbeaf6bbfb06bc0b16ac1b26ac2b369c3b369" +
  "c4b468c5b568c6b667c7b767c8b866c9b965cbb965ccba64cdbb63cebc63cfbd62d0be62d1bf61d2c060d3c05fd4c15fd5c25ed6c35dd7c45cd9c55c" +
  "dac65bdbc75adcc859ddc858dec958dfca57e0cb56e1cc55e2cd54e4ce53e5cf52e6d051e7d150e8d24fe9d34eead34cebd44bedd54aeed649efd748" +
  "f0d846f1d945f2da44f3db42f5dc41f6dd3ff7de3ef8df3cf9e03afbe138fce236fde334fee434fee535fee636fee838";

/** The colour of a robot of a team of n. */
export function robotColor(i: number, n: number): string {
  if (n <= ROBOTS.length) return ROBOTS[i % ROBOTS.length];
  const k = 6 * Math.trunc(((0.9 * i) / (n - 1)) * 256);
  return `#${CIVIDIS.slice(k, k + 6)}`;
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

/** Relative luminance of a colour, as in WCAG 2.2. */
function luminance(color: string): number {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16) / 255);
  const linear = (value: number): number => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

/** Contrast of two colours, 1 … 21, as in WCAG 2.2. */
export function contrast(a: string, b: string): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

/** The colour of thin lines of a robot: on the dark ground so much lighter that they stand out there. */
export function lineColor(i: number, n: number, colors: Colors): string {
  const own = robotColor(i, n);
  if (colors !== THEMES.dark) return own;
  const lighter = (part: number): string => {
    const mixed = [1, 3, 5].map((at) => Math.round((1 - part) * parseInt(own.slice(at, at + 2), 16) + part * 255));
    return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
  };
  return [0.5, 0.6, 0.7].map(lighter).find((color) => contrast(color, colors.explored) >= 3) ?? lighter(0.8);
}

/** Stops of a colour scale from 0 to 1 (viridis, by S. van der Walt and N. Smith, CC0). */
export const SCALE = ["#440154", "#414487", "#2a788e", "#22a884", "#7ad151", "#fde725"];
