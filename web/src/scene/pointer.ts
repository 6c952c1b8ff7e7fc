/** Mouse and touch: drag moves, wheel and two fingers zoom, the right button turns the perspective view. */

import type { View } from "./view";

export function pointer(view: View): void {
  const canvas = view.canvas;
  const fingers = new Map<number, [number, number]>();
  canvas.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, [event.offsetX, event.offsetY]);
    canvas.setPointerCapture(event.pointerId);
  });
  const up = (event: PointerEvent) => fingers.delete(event.pointerId);
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const now: [number, number] = [event.offsetX, event.offsetY];
    const others = [...fingers].filter(([id]) => id !== event.pointerId);
    fingers.set(event.pointerId, now);
    if (others.length === 1) {
      const [x, y] = others[0][1];
      const factor = Math.hypot(before[0] - x, before[1] - y) / Math.max(Math.hypot(now[0] - x, now[1] - y), 1);
      view.zoom(factor, (now[0] + x) / 2, (now[1] + y) / 2);
    } else if (!others.length) {
      const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
      if (view.perspective && (event.buttons & 2 || event.shiftKey)) view.orbit(-dx * 0.008, dy * 0.008);
      else view.pan(dx, dy);
    }
  });
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      view.zoom(Math.exp(0.0015 * event.deltaY), event.offsetX, event.offsetY);
    },
    { passive: false },
  );
}
