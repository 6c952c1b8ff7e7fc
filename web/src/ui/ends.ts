/** How runs end, in words. */
export const ENDS: Record<string, string> = {
  reached: "goal reached",
  timeout: "ended: time is up",
  exhausted: "ended: nothing left to do",
  stopped: "ended",
  interrupted: "interrupted",
  failed: "failed",
};
