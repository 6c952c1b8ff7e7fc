/** Names and numbers in words. */

export const WORDS: Record<string, string> = {
  distance_m: "distance [m]",
  energy_j: "energy [J]",
  collisions_robot: "contacts with robots",
  collisions_wall: "contacts with walls",
  explored_share: "explored share",
  known_share: "known share",
  speed_m_s: "speed [m/s]",
  error_m: "error of the estimate [m]",
  traffic_out_bytes: "sent [B]",
  traffic_in_bytes: "received [B]",
};

export const wordsOf = (name: string) => WORDS[name] ?? name.replaceAll("_", " ");

/** A number as short as it can be read. */
export function short(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (Number.isInteger(value)) return String(value);
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
}
