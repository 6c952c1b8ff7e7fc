/** Light and dark. */

import type { App } from "../app";
import type { Theme } from "../theme";
import { iconButton, remember, remembered, setIcon } from "./dom";

/** The theme that was chosen last, or that the system prefers. */
export function firstTheme(): Theme {
  const chosen = remembered("theme");
  if (chosen === "light" || chosen === "dark") return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

export function themeButton(app: App): HTMLElement {
  const button = iconButton("moon", "Dark", () => {
    app.setTheme(app.theme === "dark" ? "light" : "dark");
    remember("theme", app.theme);
    show();
  });
  const show = () => setIcon(button, app.theme === "dark" ? "sun" : "moon", app.theme === "dark" ? "Light colours" : "Dark colours", "d");
  app.keys.add("Page", "d", "d", "Light or dark", () => button.click());
  show();
  return button;
}
