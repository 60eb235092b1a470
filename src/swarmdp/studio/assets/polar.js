// A panel around the circle, for angles: straight ahead is up, left is left.
import { describe, hatch, keyboard, pointer } from "./bars.js";
import { drawn, short } from "./words.js";

const SIZE = 300;
const [MIDDLE, ZERO, SPREAD] = [SIZE / 2, 72, 52]; // the circle of no reward, and its full height

export class PolarPanel {
  constructor({ axis, title, indices }, set, begin) {
    Object.assign(this, { axis, title, indices });
    const count = indices.length;
    this.count = count;
    // Angles in degrees or in any unit: one turn is all of them.
    this.angles = indices.map((_, place) => 2 * Math.PI * (place - Math.floor(count / 2)) / count);
    this.values = indices.map(() => 0);
    const pattern = hatch();
    this.fill = pattern.fill;
    this.unvisited = drawn("g", { class: "unvisited" });
    this.band = drawn("path", { class: "band", "fill-rule": "evenodd" });
    this.shape = drawn("path", { class: "shape" });
    this.handles = indices.map(() => drawn("circle", { class: "weight", role: "slider", tabindex: "-1", r: count > 48 ? 3 : 4.5 }));
    const rings = [-1, 0, 1].map((share) => drawn("circle", {
      class: share ? "rim" : "zero", cx: MIDDLE, cy: MIDDLE, r: ZERO + share * SPREAD,
    }));
    const quarter = Math.floor(count / 2);
    const ticks = [[0, "middle", 0, -8], [Math.PI / 2, "end", -4, 4], [-Math.PI / 2, "start", 4, 4], [Math.PI, "middle", 0, 12]].map(([angle, anchor, dx, dy]) => {
      const [x, y] = this.at(angle, 1);
      const place = (quarter + Math.round(angle / (2 * Math.PI) * count) + count) % count;
      return drawn("text", { x: x + dx, y: y + dy, "text-anchor": anchor }, short(Math.abs(axis.values[place])) === "180" ? "±180" : short(axis.values[place]));
    });
    this.note = drawn("text", { x: -8, y: SIZE + 4 });
    this.root = drawn("svg", { viewBox: `-10 -4 ${SIZE + 20} ${SIZE + 8}`, role: "group", "aria-label": `Reward by ${title}` },
      pattern.definition, ...rings, this.unvisited, this.band, this.shape, ...this.handles, ...ticks, this.note);
    const keys = keyboard(this.handles, {
      // On the screen the left is the side of positive angles.
      periodic: true, value: (place) => this.values[place], set, begin,
    });
    const from = (x, y, box) => {
      const scale = Math.max((SIZE + 20) / box.width, (SIZE + 8) / box.height);
      return [(x - box.width / 2) * scale, (box.height / 2 - y) * scale];
    };
    const inside = (place) => ((place % count) + count) % count;
    pointer(this.root, {
      place: (x, y, box) => {
        const [right, up] = from(x, y, box);
        return inside(Math.round(Math.atan2(-right, up) / (2 * Math.PI) * count) + Math.floor(count / 2));
      },
      share: (x, y, box) => (Math.hypot(...from(x, y, box)) - ZERO) / SPREAD,
      set: (place, value) => set(inside(place), value), begin, focus: (place) => keys.focus(inside(place)),
      steps: (begin_, end) => {
        const way = end - begin_;
        return way - count * Math.round(way / count);
      },
    });
  }

  at(angle, share) {
    const radius = ZERO + share * SPREAD;
    return [MIDDLE - radius * Math.sin(angle), MIDDLE - radius * Math.cos(angle)];
  }

  ring(shares) {
    return `M${shares.map((share, place) => this.at(this.angles[place], share).map((c) => c.toFixed(1)).join(" ")).join("L")}Z`;
  }

  visit(visited) {
    this.seen = visited;
    const half = Math.PI / this.count;
    this.unvisited.replaceChildren(...visited.flatMap((seen, place) => {
      if (seen) return [];
      const angle = this.angles[place];
      const corners = [[angle - half, -1], [angle - half, 1], [angle + half, 1], [angle + half, -1]];
      return [drawn("path", { fill: this.fill, d: `M${corners.map(([a, s]) => this.at(a, s).map((c) => c.toFixed(1)).join(" ")).join("L")}Z` })];
    }));
  }

  draw(weights, scale, error) {
    const clip = (share) => Math.max(-1.2, Math.min(1.2, share));
    this.values = weights.map((weight) => weight / scale);
    this.shape.setAttribute("d", this.ring(this.values.map(clip)));
    this.band.setAttribute("d", error
      ? this.ring(this.values.map((share, place) => clip(share + error[place] / scale)))
        + this.ring(this.values.map((share, place) => clip(share - error[place] / scale))) : "");
    this.handles.forEach((handle, place) => {
      const [x, y] = this.at(this.angles[place], clip(this.values[place]));
      handle.setAttribute("cx", x.toFixed(1));
      handle.setAttribute("cy", y.toFixed(1));
      describe(handle, this, place, weights[place], scale);
    });
    const errors = error ? `; standard errors up to ${short(Math.max(...error))}` : "";
    this.note.textContent = `rim ${short(scale)}, dashed 0, inmost −${short(scale)}${errors}`;
  }
}
