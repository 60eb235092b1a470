// The two swarms: unpacks the frames of studio/frames.py and draws them, moving between steps.
/* global Drawing */
const [ARROWS, DOTS, BITS] = [1, 2, 3];
const JUMP = 1;
const HEAD = 28; // bytes
const MOST_ARROWS = 2000; // beyond, agents are pixels
const REARRANGED = 20000; // agents from which on places in a frame change hands

const unpack = (buffer, scene) => {
  const head = new DataView(buffer);
  const [rows, columns] = [head.getUint16(12, true), head.getUint16(14, true)];
  const frame = {
    kind: head.getUint8(0),
    jump: (head.getUint8(1) & JUMP) !== 0,
    scene: head.getUint16(2, true),
    step: head.getUint32(4, true),
    number: head.getUint32(8, true),
    rows, columns,
    measures: new Float32Array(buffer, HEAD, rows * columns),
    swarms: [],
  };
  let at = HEAD + 4 * rows * columns;
  if (frame.kind === ARROWS || frame.kind === DOTS) {
    const count = scene.agents;
    frame.swarms = [0, 1].map((side) => ({
      places: new Uint16Array(buffer, at + 4 * count * side, 2 * count),
      headings: frame.kind === ARROWS ? new Uint8Array(buffer, at + 8 * count + count * side, count) : null,
    }));
  } else {
    const sites = scene.rows * scene.columns;
    const size = frame.kind === BITS ? Math.ceil(sites / 8) : sites;
    frame.swarms = [0, 1].map((side) => ({ cells: new Uint8Array(buffer, at + size * side, size) }));
  }
  return frame;
};

export class StageView {
  // drawn(frame) is called when a frame is on the screen for the first time.
  constructor(canvases, { drawn, rows }) {
    Object.assign(this, { canvases, drawn, rows, scene: null, before: null, now: null });
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.interval = 100;
    this.arrived = 0;
    this.fresh = false;
    this.stats = { drawn: 0, frames: 0, longest: 0, last: 0, waiting: 0, planned: [], behaved: [] };
    new ResizeObserver(() => { this.fresh = true; }).observe(canvases[0]);
    const tick = (now) => {
      this.tick(now);
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  open(scene) {
    this.scene = scene;
    this.before = this.now = null;
    this.seen = 0;
    const count = scene.agents;
    this.room = [0, 1].map(() => ({
      xs: new Float32Array(count), ys: new Float32Array(count), angles: new Float32Array(count),
    }));
    this.points = [Drawing.points(), Drawing.points()];
    this.grids = [0, 1].map(() => Drawing.cells(scene.rows, scene.columns, scene.colours));
    for (const canvas of this.canvases) canvas.style.setProperty("aspect-ratio", `${scene.columns} / ${scene.rows}`);
  }

  pace(stepsPerSecond) {
    this.interval = 1000 / stepsPerSecond;
  }

  take(buffer) {
    if (!this.scene) return;
    const frame = unpack(buffer, this.scene);
    if (frame.scene !== (this.scene.scene & 0xffff)) return; // of the scene before
    this.before = frame.jump || !this.now || frame.step !== this.now.step + 1 ? null : this.now;
    this.now = frame;
    this.arrived = performance.now();
    this.fresh = this.unseen = true;
    this.stats.frames += 1;
    this.stats.waiting = frame.number - (this.seen ?? 0);
    this.rows(frame);
  }

  tick(now) {
    if (!this.now || document.hidden) return;
    const moves = this.before && !this.still.matches && this.scene.agents < REARRANGED && this.now.swarms[0].places;
    const share = moves ? Math.min(1, (now - this.arrived) / this.interval) : 1;
    if (!this.fresh && share === this.shown) return;
    const begin = performance.now();
    this.draw(share);
    this.shown = share;
    this.fresh = false;
    const took = performance.now() - begin;
    Object.assign(this.stats, {
      drawn: this.stats.drawn + 1, last: took, longest: Math.max(this.stats.longest, took),
    });
    if (this.unseen) {
      this.unseen = false;
      this.seen = this.now.number;
      this.stats.waiting = 0;
      this.drawn(this.now);
    }
  }

  draw(share) {
    this.canvases.forEach((canvas, side) => {
      Drawing.fit(canvas);
      const swarm = this.now.swarms[side];
      if (swarm.cells) {
        const of = this.now.kind === BITS ? (at) => Drawing.bit(swarm.cells, at) : (at) => swarm.cells[at];
        this.grids[side](canvas, of);
        return;
      }
      const { xs, ys, angles } = this.between(side, share);
      const [pen, size] = [canvas.getContext("2d"), canvas.width];
      const headings = swarm.headings ? angles : null;
      if (xs.length > MOST_ARROWS) {
        this.points[side](pen, size, xs, ys, headings, this.scene.colours);
      } else {
        pen.clearRect(0, 0, size, size);
        Drawing.agents(pen, size, xs, ys, headings, this.scene.colours);
      }
    });
  }

  // Where the agents are, a share of the way from the frame before to this one.
  between(side, share) {
    const { xs, ys, angles } = this.room[side];
    const { places, headings } = this.now.swarms[side];
    const old = share < 1 ? this.before.swarms[side] : null;
    for (let agent = 0; agent < xs.length; agent++) {
      let x = places[2 * agent] / 65536;
      let y = places[2 * agent + 1] / 65536;
      let angle = headings ? headings[agent] : 0;
      if (old) {
        let [u, v] = [x - old.places[2 * agent] / 65536, y - old.places[2 * agent + 1] / 65536];
        if (this.scene.periodic) {
          u -= Math.round(u);
          v -= Math.round(v);
        }
        x -= (1 - share) * u;
        y -= (1 - share) * v;
        if (this.scene.periodic) {
          x -= Math.floor(x);
          y -= Math.floor(y);
        }
        if (headings) angle -= (1 - share) * (((angle - old.headings[agent] + 384) & 255) - 128);
      }
      xs[agent] = x;
      ys[agent] = y;
      angles[agent] = angle;
    }
    return this.room[side];
  }
}
