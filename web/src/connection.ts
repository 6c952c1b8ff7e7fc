/** The connection to the server: it comes back by itself, and tells how requests ended. */

import { PROTOCOL, type ToServer } from "./messages";
import { unpack, type Arrays, type Header } from "./wire";

export type Receiver = (header: Header, arrays: Arrays) => void;
/** `ended`: the server has said that it ends; `lost`: it is gone without a word; `replaced`: another one is there now; `absent`: it was gone before. */
export type ConnectionState = "connecting" | "open" | "lost" | "ended" | "replaced" | "refused" | "absent";
/** Codes of a server that closes the connection itself. */
const ENDED = [1000, 1001];

/** Where messages of the page go. */
export interface Channel {
  /** Whether messages arrive. */
  readonly open: boolean;
  send(message: ToServer): void;
  ask(message: ToServer): Promise<Header>;
}

export class Connection implements Channel {
  state: ConnectionState = "connecting";
  private socket: WebSocket | null = null;
  private requests = new Map<number, { done: (answer: Header) => void; refused: (error: Error) => void }>();
  private number = 0;
  private wait_ms = 250;
  private everOpen = false;

  constructor(
    private address: string,
    private token: string,
    private receive: Receiver,
    private changed: (state: ConnectionState) => void,
  ) {
    this.begin();
  }

  get open(): boolean {
    return this.state === "open";
  }

  /** Sends a message that needs no answer. */
  send(message: ToServer): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  /** Sends a request; the promise ends when the server has done or refused it. */
  ask(message: ToServer): Promise<Header> {
    if (this.socket?.readyState !== WebSocket.OPEN) return Promise.reject(new Error("The connection is lost."));
    const id = ++this.number;
    this.socket.send(JSON.stringify({ ...message, id }));
    return new Promise((done, refused) => this.requests.set(id, { done, refused }));
  }

  private begin(): void {
    const socket = new WebSocket(this.address, [PROTOCOL, `token.${this.token}`]);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.wait_ms = 250;
      this.everOpen = true;
      this.become("open");
    };
    socket.onmessage = ({ data }) => {
      const { header, arrays } =
        typeof data === "string" ? { header: JSON.parse(data) as Header, arrays: new Map() as Arrays } : unpack(data);
      this.answered(header);
      this.receive(header, arrays);
    };
    socket.onclose = ({ code }) => {
      for (const { refused } of this.requests.values()) refused(new Error("The connection is lost."));
      this.requests.clear();
      if (this.state === "open") this.become(ENDED.includes(code) ? "ended" : "lost");
      else void this.look();
      setTimeout(() => this.begin(), this.wait_ms);
      this.wait_ms = Math.min(2 * this.wait_ms, 5000);
    };
    this.socket = socket;
  }

  /** Finds out why the server does not answer: it refuses this page, or is not there. */
  private look(): Promise<void> {
    const there = (yes: boolean) => {
      if (this.open) return;
      if (!this.everOpen) this.become(yes ? "refused" : "absent");
      else if (yes) this.become("replaced");
    };
    return fetch("/", { cache: "no-store" }).then(
      () => there(true),
      () => there(false),
    );
  }

  private answered(header: Header): void {
    if (header.type !== "done" && header.type !== "refused") return;
    const request = this.requests.get(header.id as number);
    if (!request) return;
    this.requests.delete(header.id as number);
    if (header.type === "done") request.done(header);
    else request.refused(Object.assign(new Error(header.text as string), { problems: header.problems }));
  }

  private become(state: ConnectionState): void {
    this.state = state;
    this.changed(state);
  }
}
