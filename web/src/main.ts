/** Begins the page: opens the recording inside it, or connects to the server that it came from. */

import { App } from "./app";
import { backTo } from "./gallery/shelf";
import { open, recordingInPage } from "./offline";
import { pair } from "./pair";

const root = document.getElementById("app")!;
const wishes = new URLSearchParams(location.hash.slice(1));
const recording = recordingInPage();
if (recording === null && wishes.has("pair")) pair(root, wishes.get("token") ?? "");
else {
  const app = new App(root);
  backTo(root);
  Object.assign(window, { covey: app });
  if (recording !== null) void open(app, recording).catch((error: Error) => app.say(`The recording cannot be opened: ${error.message}`));
  else {
    const server = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`;
    app.connect(wishes.has("second") ? `${server}?second` : server, wishes.get("token") ?? "");
  }
}
