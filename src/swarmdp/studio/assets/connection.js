// The socket to the studio: opened again when it is lost, silent while it is.
import { token } from "./links.js";

const PATIENCE = [500, 1000, 2000, 4000, 8000]; // milliseconds between attempts

export class Connection {
  // hear(message) gets what is said, frame(buffer) what is binary, state(name, reason) how it is:
  // "connected", "disconnected", "locked" or "refused".
  constructor({ hear, frame, state }) {
    Object.assign(this, { hear, frame, state, attempts: 0, socket: null, timer: 0 });
  }

  open() {
    clearTimeout(this.timer);
    this.socket?.close();
    const key = token();
    if (!key) {
      this.state("locked");
      return;
    }
    const socket = new WebSocket(`ws://${location.host}/socket`, ["swarmdp", `token.${key}`]);
    socket.binaryType = "arraybuffer";
    let welcome = false;
    socket.onopen = () => {
      welcome = true;
      this.attempts = 0;
      this.state("connected");
    };
    socket.onmessage = ({ data }) => {
      if (typeof data === "string") this.hear(JSON.parse(data));
      else this.frame(data);
    };
    socket.onclose = ({ code, reason }) => {
      if (this.socket === socket) this.lost(welcome, code, reason);
    };
    this.socket = socket;
  }

  async lost(welcome, code, reason) {
    this.socket = null;
    if ([1008, 1011, 1013].includes(code)) {
      this.state("refused", reason);
      return;
    }
    if (!welcome) {
      // A server that answers, but not to this tab, does not know its token.
      try {
        await fetch("/studio.css", { cache: "no-store" });
        this.state("locked");
        return;
      } catch {
        // Nobody is there.
      }
    }
    this.state("disconnected");
    const wait = PATIENCE[Math.min(this.attempts, PATIENCE.length - 1)];
    this.attempts += 1;
    this.timer = setTimeout(() => this.open(), wait);
  }

  say(kind, entries = {}) {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify({ kind, ...entries }));
    return true;
  }
}
