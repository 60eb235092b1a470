// A panel around the circle, for angles: zero is up, positive angles are on the right, as in reports.
import { barClass, describe, hatch, keyboard, pointer } from "./bars.js";
import { drawn, short } from "./words.js";

const SIZE = 300;
const [MIDDLE, ZERO, SPREAD] = [SIZE / 2, 76, 50]; // the circle of no reward, and its full height
const GAP = 0.08; // of a bar's width, on both of its sides
const THIN = 0.02; // a bar of no reward can be seen, too

const signed = (axis, place) => {
  const value = axis.values[place];
  if (axis.units !== "degrees") return short(value);
  const size = `${short(Math.abs(value))}°`;
  return value === 0 || Math.abs(value) === 180 ? size : `${value > 0 ? "+" : "−"}${size}`;
};

export class PolarPanel {
  // Without set the panel is only looked at; over(place) is called for what is pointed at.
  constructor({ axis, title, indices }, { set, begin, over }) {
    Object.assign(this, { axis, title, indices });
    const count = indices.length;
    this.count = count;
    // Angles in degrees or in any unit: one turn is all of them.
    this.angles = indices.map((_, place) => 2 * Math.PI * (place - Math.floor(count / 2)) / count);
    this.values = indices.map(() => 0);
    const pattern = hatch();
    this.fill = pattern.fill;
    this.unvisited = drawn("g", { class: "unvisited" });
    this.bars = indices.map(() => drawn("path", set ? { role: "slider", tabindex: "-1" } : {}));
    this.errors = drawn("g");
    const rings = [-1, 1].map((share) => drawn("circle", {
      class: "rim", cx: MIDDLE, cy: MIDDLE, r: ZERO + share * SPREAD,
    }));
    const zero = drawn("circle", { class: "zero", cx: MIDDLE, cy: MIDDLE, r: ZERO });
    const half = Math.floor(count / 2);
    const ticks = [[0, "middle", 0, -6], [Math.PI / 2, "start", 4, 4], [-Math.PI / 2, "end", -4, 4], [Math.PI, "middle", 0, 14]].map(([angle, anchor, dx, dy]) => {
      const [x, y] = this.at(angle, 1);
      const place = (half + Math.round(angle / (2 * Math.PI) * count) + count) % count;
      return drawn("text", { x: x + dx, y: y + dy, "text-anchor": anchor }, signed(axis, place));
    });
    const scale = (share, dy) => drawn("text", { class: "scale", x: MIDDLE, y: MIDDLE + ZERO + share * SPREAD + dy, "text-anchor": "middle" });
    [this.high, this.low] = [scale(1, -3), scale(-1, 9)];
    this.root = drawn("svg", { viewBox: `-14 -4 ${SIZE + 28} ${SIZE + 8}`, role: set ? "group" : "img", "aria-label": `Reward by ${title}` },
      pattern.definition, ...rings, this.unvisited, ...this.bars, zero, this.errors, ...ticks, this.high, this.low);
    const from = (x, y, box) => {
      const scaled = Math.max((SIZE + 28) / box.width, (SIZE + 8) / box.height);
      return [(x - box.width / 2) * scaled, (box.height / 2 - y) * scaled];
    };
    const inside = (place) => ((place % count) + count) % count;
    const keys = set && keyboard(this.bars, {
      periodic: true, value: (place) => this.values[place], set, begin, over,
    });
    pointer(this.root, {
      place: (x, y, box) => {
        const [right, up] = from(x, y, box);
        return inside(Math.round(Math.atan2(right, up) / (2 * Math.PI) * count) + half);
      },
      share: (x, y, box) => (Math.hypot(...from(x, y, box)) - ZERO) / SPREAD,
      set: set && ((place, value) => set(inside(place), value)), begin, over,
      focus: (place) => keys.focus(inside(place)),
      steps: (begin_, end) => {
        const way = end - begin_;
        return way - count * Math.round(way / count);
      },
    });
  }

  at(angle, share) {
    const radius = ZERO + share * SPREAD;
    return [MIDDLE + radius * Math.sin(angle), MIDDLE - radius * Math.cos(angle)];
  }

  // A sector of the ring between two rewards.
  sector(angle, half, low, high) {
    const point = (at, share) => this.at(at, share).map((c) => c.toFixed(1)).join(" ");
    const arc = (share, sweep, to) => `A${ZERO + share * SPREAD} ${ZERO + share * SPREAD} 0 0 ${sweep} ${point(to, share)}`;
    return `M${point(angle - half, low)}L${point(angle - half, high)}${arc(high, 1, angle + half)}L${point(angle + half, low)}${arc(low, 0, angle - half)}Z`;
  }

  visit(visited) {
    this.seen = visited;
    this.unvisited.replaceChildren(...visited.flatMap((seen, place) => (seen ? [] : [
      drawn("path", { fill: this.fill, d: this.sector(this.angles[place], Math.PI / this.count, -1, 1) })])));
  }

  draw(weights, scale, { error = null, clear = null } = {}) {
    const clip = (share) => Math.max(-1.2, Math.min(1.15, share));
    this.values = weights.map((weight) => weight / scale);
    this.bars.forEach((bar, place) => {
      const share = clip(this.values[place]);
      const [low, high] = [Math.min(share, -THIN), Math.max(share, THIN)];
      const half = (1 - 2 * GAP) * Math.PI / this.count;
      bar.setAttribute("d", this.sector(this.angles[place], half, share > 0 ? 0 : low, share < 0 ? 0 : high));
      bar.setAttribute("class", barClass(clear, place));
      describe(bar, this, place, weights[place], scale);
    });
    this.errors.replaceChildren(...(error ?? []).map((size, place) => {
      const [inner, outer] = [-1, 1].map((side) => this.at(this.angles[place], clip(this.values[place] + side * size / scale)));
      return drawn("line", { class: "bar-error", x1: inner[0], y1: inner[1], x2: outer[0], y2: outer[1] });
    }));
    [this.high.textContent, this.low.textContent] = [short(scale), `−${short(scale)}`];
  }
}
