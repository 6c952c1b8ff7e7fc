/** Pictures on buttons, drawn on a grid of 16 by 16. */

const PATHS = {
  play: "M4 2.5v11l9-5.5z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  forward: "M3 3l6.5 5L3 13zM11 3h2v10h-2z",
  back: "M13 3L6.5 8 13 13zM3 3h2v10H3z",
  stop: "M3.5 3.5h9v9h-9z",
  next: "M8 1.5l4 4-4 4M12 5.5H3M3 13.5h10",
  previous: "M8 1.5l-4 4 4 4M4 5.5h9M3 13.5h10",
  fit: "M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4",
  selection: "M2 5V2h3M11 2h3v3M14 11v3h-3M5 14H2v-3M8 5.5a2.5 2.5 0 100 5 2.5 2.5 0 000-5z",
  deep: "M8 1.5l5.5 3v7L8 14.5l-5.5-3v-7zM2.5 4.5L8 7.7l5.5-3.2M8 7.7v6.8",
  ruler: "M1.5 11L11 1.5 14.5 5 5 14.5zM4.2 8.3l1.6 1.6M6.6 5.9l2.4 2.4M9 3.5l1.6 1.6",
  area: "M2.5 12.5l2-9 9 2.5-2.5 8z",
  sun: "M8 5a3 3 0 100 6 3 3 0 000-6zM8 1v2M8 13v2M1 8h2M13 8h2M3 3l1.4 1.4M11.6 11.6L13 13M13 3l-1.4 1.4M4.4 11.6L3 13",
  moon: "M13 9.8A5.6 5.6 0 016.2 3a5.6 5.6 0 106.8 6.8z",
  help: "M5.5 6a2.5 2.5 0 114 2c-1 .7-1.5 1.2-1.5 2.3M8 12.6v.9",
  left: "M2 3h12v10H2zM6 3v10",
  right: "M2 3h12v10H2zM10 3v10",
  label: "M2 4h7l4 4-4 4H2zM5 8h.1",
  follow: "M8 1v3M8 12v3M1 8h3M12 8h3M8 4.5a3.5 3.5 0 100 7 3.5 3.5 0 000-7z",
  filter: "M2 3h12L9.5 8.5V13L6.5 11.5v-3z",
  list: "M5.5 4H14M5.5 8H14M5.5 12H14M2 4h.5M2 8h.5M2 12h.5",
  close: "M4 4l8 8M12 4l-8 8",
  camera: "M2 5h3l1-2h4l1 2h3v8H2zM8 6.5a2.3 2.3 0 100 4.6 2.3 2.3 0 000-4.6z",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
} as const;
export type Icon = keyof typeof PATHS;
const FILLED = new Set<Icon>(["play", "pause", "forward", "back", "stop"]);

export function icon(name: Icon): SVGSVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  svg.classList.add("icon");
  if (FILLED.has(name)) svg.classList.add("filled");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}
