// A panel of bars, one for each level.
import { drawn, short } from "./words.js";

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [360, 200, 38, 30, 8];

let patterns = 0;

// A pattern of lines, for what was never visited.
export const hatch = () => {
  patterns += 1;
  const id = `hatch-${patterns}`;
  const pattern = drawn("pattern", {
    id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)",
  }, drawn("line", { x1: 0, y1: 0, x2: 0, y2: 6, class: "hatch" }));
  return { definition: drawn("defs", {}, pattern), fill: `url(#${id})` };
};

// One tab stop for all weights of a panel: arrows walk between them and change them.
export const keyboard = (weights, { periodic, value, set, begin, over }) => {
  const count = weights.length;
  let current = Math.floor(count / 2);
  const stop = (place) => {
    weights[current].setAttribute("tabindex", "-1");
    current = place;
    weights[current].setAttribute("tabindex", "0");
  };
  stop(current);
  weights.forEach((weight, place) => {
    weight.addEventListener("focus", () => {
      stop(place);
      over(place);
    });
    weight.addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const beside = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (beside !== undefined) {
        const to = periodic ? (place + beside + count) % count : Math.max(0, Math.min(count - 1, place + beside));
        weights[to].focus();
      } else {
        const size = event.shiftKey ? 0.2 : 0.05;
        const next = {
          ArrowUp: value(place) + size, ArrowDown: value(place) - size,
          PageUp: value(place) + 0.2, PageDown: value(place) - 0.2, Home: 1, End: -1, 0: 0,
        }[event.key];
        if (next === undefined) return;
        begin();
        set(place, next);
      }
      event.preventDefault();
      event.stopPropagation();
    });
  });
  return { focus: (place) => { stop(place); weights[place].focus({ preventScroll: true }); } };
};

// Strokes of a pointer: also what lies between two of its places is painted. Without set it only points.
export const pointer = (root, { place, share, set, begin, over, focus, steps }) => {
  let last = null;
  const point = (event) => {
    const box = root.getBoundingClientRect();
    over(place(event.clientX - box.left, event.clientY - box.top, box));
  };
  root.addEventListener("pointermove", point);
  root.addEventListener("pointerdown", point);
  root.addEventListener("pointerleave", () => over(null));
  if (!set) return;
  const paint = (event) => {
    const box = root.getBoundingClientRect();
    const at = place(event.clientX - box.left, event.clientY - box.top, box);
    const value = share(event.clientX - box.left, event.clientY - box.top, box);
    if (last === null) {
      set(at, value);
    } else {
      const way = steps(last.at, at);
      for (let step = 1; step <= Math.max(1, Math.abs(way)); step++) {
        const part = way === 0 ? 1 : step / Math.abs(way);
        set(last.at + Math.sign(way) * (way === 0 ? 0 : step), last.value + part * (value - last.value));
      }
    }
    last = { at, value };
  };
  root.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    root.setPointerCapture(event.pointerId);
    begin();
    last = null;
    paint(event);
    focus(last.at);
    event.preventDefault();
  });
  root.addEventListener("pointermove", (event) => {
    if (last !== null && root.hasPointerCapture(event.pointerId)) paint(event);
  });
  for (const end of ["pointerup", "pointercancel"]) root.addEventListener(end, () => { last = null; });
};

export class BarPanel {
  // Without set the panel is only looked at; over(place) is called for what is pointed at.
  constructor({ axis, title, indices }, { set, begin, over }) {
    Object.assign(this, { axis, title, indices });
    const count = indices.length;
    this.step = (WIDTH - LEFT - 4) / count;
    this.values = indices.map(() => 0);
    const pattern = hatch();
    this.unvisited = drawn("g", { class: "unvisited" });
    this.zero = drawn("line", { class: "zero", x1: LEFT, x2: WIDTH - 4, y1: this.y(0), y2: this.y(0) });
    this.bars = indices.map((_, place) => drawn("rect", {
      ...(set ? { role: "slider", tabindex: "-1", "aria-orientation": "vertical" } : {}),
      x: LEFT + place * this.step + 1, width: Math.max(1, this.step - 2),
    }));
    this.errors = drawn("g");
    this.high = drawn("text", { x: LEFT - 5, y: TOP + 8, "text-anchor": "end" });
    this.low = drawn("text", { x: LEFT - 5, y: HEIGHT - BOTTOM, "text-anchor": "end" });
    const every = Math.ceil(count / 9);
    const ticks = axis.values.map((value, place) => (place % every ? null : drawn("text", {
      x: LEFT + (place + 0.5) * this.step, y: HEIGHT - BOTTOM + 14, "text-anchor": "middle",
    }, typeof value === "string" ? value : short(value))));
    this.root = drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: set ? "group" : "img", "aria-label": `Reward by ${title}` },
      pattern.definition,
      drawn("rect", { class: "rim", x: LEFT, y: TOP, width: WIDTH - LEFT - 4, height: HEIGHT - TOP - BOTTOM }),
      this.zero, this.unvisited, ...this.bars, this.errors, this.high, this.low, ...ticks.filter(Boolean),
      drawn("text", { x: (WIDTH + LEFT) / 2, y: HEIGHT - 2, "text-anchor": "middle" }, axis.label));
    this.fill = pattern.fill;
    const keys = set && keyboard(this.bars, {
      periodic: false, value: (place) => this.values[place], set, begin, over,
    });
    const inside = (place) => Math.max(0, Math.min(count - 1, place));
    pointer(this.root, {
      place: (x, _, box) => inside(Math.floor((x * WIDTH / box.width - LEFT) / this.step)),
      share: (_, y, box) => {
        const height = y * HEIGHT / box.height;
        return 1 - 2 * (height - TOP) / (HEIGHT - TOP - BOTTOM);
      },
      set: set && ((place, value) => set(inside(place), value)), begin, over,
      focus: (place) => keys.focus(place),
      steps: (from, to) => to - from,
    });
  }

  y(share) {
    return TOP + (1 - share) / 2 * (HEIGHT - TOP - BOTTOM);
  }

  visit(visited) {
    this.seen = visited;
    this.unvisited.replaceChildren(...visited.flatMap((seen, place) => (seen ? [] : [drawn("rect", {
      x: LEFT + place * this.step, width: this.step, y: TOP, height: HEIGHT - TOP - BOTTOM, fill: this.fill,
    })])));
  }

  draw(weights, scale, { error = null, clear = null } = {}) {
    this.values = weights.map((weight) => weight / scale);
    this.values.forEach((share, place) => {
      const [low, high] = [Math.min(share, 0), Math.max(share, 0)].map((end) => Math.max(-1, Math.min(1, end)));
      const bar = this.bars[place];
      bar.setAttribute("y", this.y(high) - 1);
      bar.setAttribute("height", Math.max(2, this.y(low) - this.y(high)));
      bar.setAttribute("class", barClass(clear, place));
      describe(bar, this, place, weights[place], scale);
    });
    this.errors.replaceChildren(...(error ?? []).map((size, place) => {
      const x = LEFT + (place + 0.5) * this.step;
      const [high, low] = [this.values[place] + size / scale, this.values[place] - size / scale];
      return drawn("line", { class: "bar-error", x1: x, x2: x, y1: this.y(Math.min(1.05, high)), y2: this.y(Math.max(-1.05, low)) });
    }));
    [this.high.textContent, this.low.textContent] = [short(scale), short(-scale)];
  }
}

// Rewards that the demo does not identify are pale, as in reports.
export const barClass = (clear, place) => (clear && !clear[place] ? "weight pale" : "weight");

// What a screen reader says of one weight.
export const describe = (weight, panel, place, value, scale) => {
  if (!weight.hasAttribute("role")) return; // only looked at
  const at = panel.axis.values[place];
  const unseen = panel.seen && !panel.seen[place] ? ", never visited" : "";
  weight.setAttribute("aria-label", `${panel.title} ${typeof at === "string" ? at : short(at)}${unseen}`);
  weight.setAttribute("aria-valuemin", -scale);
  weight.setAttribute("aria-valuemax", scale);
  weight.setAttribute("aria-valuenow", value);
  weight.setAttribute("aria-valuetext", `reward ${short(value)}`);
};

