/** What the page says when its server does not answer. */

import type { ConnectionState } from "./connection";
import type { Model } from "./model";
import { ENDS } from "./ui/ends";

/** What has happened, when, and where the record is. */
export function whyGone(state: Exclude<ConnectionState, "open">, { frame, hello }: Pick<Model, "frame" | "hello">, hash: string): string {
  const study = hash.includes("from=study");
  const at = frame ? ` at ${frame.time_s.toFixed(1)} s` : "";
  const record = study ? " Its record opens from the study." : hello?.record ? ` Its record is in ${hello.record}.` : "";
  if (state === "connecting") return "Connecting …";
  if (state === "refused") return "The server refuses this page. Open the address that covey printed.";
  if (state === "absent") return study ? `The run had ended when this page opened.${record}` : "Nobody answers at this address: the run has ended, or covey was closed. Trying again …";
  if (state === "replaced") return `Another covey answers at this address now. The page keeps what it has of the run before${at.replace("at", "until")}.${record} Open the address that covey printed.`;
  if (frame?.status) return `The run has ended${at}: ${(ENDS[frame.status] ?? frame.status).replace("ended: ", "")}.${record} The page keeps what it has.`;
  if (state === "ended") return `Covey was ended${at}, by Ctrl-C or with its terminal.${record} The page keeps what it has.`;
  return `The connection was lost${at}: covey was killed, or the network is down.${record && !study ? ` What it had written of its record is in ${hello!.record}.` : record} Trying again …`;
}
