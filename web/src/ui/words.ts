/** Names and numbers in words. */

export const WORDS: Record<string, string> = {
  collisions_robot: "contacts with robots",
  collisions_wall: "contacts with walls",
  error_m: "error of the estimate [m]",
  traffic_out_bytes: "sent [B]",
  traffic_in_bytes: "received [B]",
};

/** Units at the ends of names. */
const UNITS: Record<string, string> = { _m_s: "m/s", _bytes: "B", _deg: "°", _m2: "m²", _s: "s", _m: "m", _j: "J" };

export function wordsOf(name: string): string {
  const end = Object.keys(UNITS).find((one) => name.endsWith(one)) ?? "";
  return WORDS[name] ?? name.slice(0, name.length - end.length).replaceAll("_", " ") + (end && ` [${UNITS[end]}]`);
}

/** A number as short as it can be read. */
export function short(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (Number.isInteger(value)) return String(value);
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
}
