/** Makes elements: h("button", { class: "small", onclick: … }, "Play"). */

import { icon, type Icon } from "./icons";

type Attribute = string | boolean | number | null | undefined | ((event: never) => void);

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, Attribute> = {},
  ...children: (Node | string | null | undefined)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined) as (Node | string)[]);
  return element;
}

/** A button with a picture; its name is read aloud and shown above it, with its key. */
export function iconButton(picture: Icon, name: string, onclick: () => void, key = ""): HTMLButtonElement {
  return h("button", { type: "button", class: "icon-button", "aria-label": name, title: key ? `${name} (${key})` : name, onclick }, icon(picture));
}

/** Changes picture and name of such a button. */
export function setIcon(button: HTMLButtonElement, picture: Icon, name: string, key = ""): void {
  if (button.getAttribute("aria-label") === name) return;
  button.replaceChildren(icon(picture));
  button.setAttribute("aria-label", name);
  button.title = key ? `${name} (${key})` : name;
}

/** A part of a column that folds up. */
export function panel(title: string, body: HTMLElement): HTMLDetailsElement {
  return h("details", { class: "panel", open: true }, h("summary", {}, h("h2", {}, title)), body);
}

/** Sets the text of an element if it is another one. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Calls a function at most once in so many milliseconds, and once after the last call. */
export function seldom(run: () => void, pause_ms: number): () => void {
  let last = -Infinity;
  let later = 0;
  return () => {
    const wait = last + pause_ms - performance.now();
    if (wait <= 0) {
      last = performance.now();
      run();
    } else if (!later)
      later = window.setTimeout(() => {
        later = 0;
        last = performance.now();
        run();
      }, wait);
  };
}

/** What the page remembers in this browser, on all ports of a machine; nothing where it may not. */
export function remembered(name: string): string | null {
  try {
    const found = document.cookie.split("; ").find((one) => one.startsWith(`covey.${name}=`));
    return found ? found.slice(name.length + 7) : null;
  } catch {
    return null;
  }
}

export function remember(name: string, value: string): void {
  try {
    document.cookie = `covey.${name}=${value}; path=/; max-age=31536000; SameSite=Strict`;
  } catch {
    // it is not remembered
  }
}
