/** Begins the page: connects to the server that it came from. */

import { App } from "./app";

const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
const app = new App(document.getElementById("app")!);
app.connect(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`, token);
Object.assign(window, { covey: app });
