/** Begins the page: opens the recording inside it, or connects to the server that it came from. */

import { App } from "./app";
import { backTo } from "./gallery/shelf";
import { open, recordingInPage } from "./offline";

const root = document.getElementById("app")!;
const app = new App(root);
backTo(root);
Object.assign(window, { covey: app });
const recording = recordingInPage();
if (recording !== null) void open(app, recording).catch((error: Error) => app.say(`The recording cannot be opened: ${error.message}`));
else {
  const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
  app.connect(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`, token);
}
