// Curves of numbers as they come: the swarms' measures over time, a fit's over iterations.
/* global Drawing */
import { brief, element, short } from "./words.js";

const SPAN = 300; // steps that are shown
const MOST = 3000; // points that are kept

const round = (value) => {
  if (value === 0) return 0;
  const unit = 10 ** (Math.floor(Math.log10(Math.abs(value))) - 1);
  return Number((Math.ceil(value / unit - 1e-9) * unit).toPrecision(3));
};

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export class Chart {
  // Curves by name, each {label, colour: a variable of the style sheet, dash}.
  constructor(title, curves, limits = [null, null], span = SPAN) {
    Object.assign(this, { curves, limits, span });
    this.points = [];
    this.canvas = element("canvas", { role: "img" });
    this.reading = element("output", { "aria-live": "off" });
    this.top = element("span", { class: "tick top" });
    this.bottom = element("span", { class: "tick bottom" });
    this.root = element("div", { class: "chart" },
      element("div", { class: "head" }, element("span", {}, title), this.reading),
      element("div", { class: "frame" }, this.top, this.bottom, this.canvas));
    this.title = title;
    this.asked = false;
    new ResizeObserver(() => this.ask()).observe(this.canvas);
  }

  clear() {
    this.points = [];
    this.ask();
  }

  add(x, ...values) {
    if (this.points.length && x <= this.points.at(-1)[0]) this.points = this.points.filter(([at]) => at < x);
    this.points.push([x, ...values]);
    if (this.points.length > MOST) this.points.splice(0, this.points.length - MOST);
    this.ask();
  }

  ask() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.draw();
    });
  }

  ends(shown) {
    const known = shown.flatMap(([, ...values]) => values).filter(Number.isFinite);
    let [low, high] = this.limits;
    low ??= Math.min(0, ...known.map((value) => -round(-value)));
    high ??= Math.max(...known.map(round), low);
    return high > low ? [low, high] : [low, low + 1];
  }

  draw() {
    Drawing.fit(this.canvas);
    const { width, height } = this.canvas;
    const pen = this.canvas.getContext("2d");
    pen.clearRect(0, 0, width, height);
    const last = this.points.at(-1);
    if (!last) {
      this.reading.textContent = "";
      return;
    }
    const begin = Math.max(this.points[0][0], last[0] - this.span);
    const shown = this.points.filter(([x]) => x >= begin);
    const [low, high] = this.ends(shown);
    const wide = Math.max(last[0] - begin, Math.min(this.span, 20));
    this.curves.forEach((curve, number) => {
      pen.strokeStyle = colour(curve.colour);
      pen.lineWidth = 2 * devicePixelRatio;
      pen.setLineDash((curve.dash ?? []).map((length) => length * devicePixelRatio));
      pen.beginPath();
      let drawing = false;
      for (const point of shown) {
        const value = point[number + 1];
        if (!Number.isFinite(value)) {
          drawing = false;
          continue;
        }
        const x = (point[0] - begin) / wide * width;
        const y = height - 2 - (Math.min(Math.max(value, low), high) - low) / (high - low) * (height - 4);
        if (drawing) pen.lineTo(x, y);
        else pen.moveTo(x, y);
        drawing = true;
      }
      pen.stroke();
    });
    [this.top.textContent, this.bottom.textContent] = [brief(high), brief(low)];
    const words = this.curves.map((curve, number) => `${curve.label} ${short(last[number + 1])}`);
    this.reading.replaceChildren(...this.curves.flatMap((curve, number) => [
      `${number ? "   " : ""}${curve.label} `, element("b", {}, short(last[number + 1]))]));
    this.canvas.setAttribute("aria-label", `${this.title}: ${words.join(", ")}`);
  }
}

export const SIDES = (left, right) => [
  { label: left, colour: "--left" },
  { label: right, colour: "--right", dash: [6, 3] },
];

// The measures of a scene, and last what the swarms collect of the reward.
export class MeasureCharts {
  constructor(root) {
    this.root = root;
    this.charts = [];
  }

  open(scene) {
    const sides = () => SIDES(scene.left, "yours");
    this.charts = scene.measures.map((measure) => new Chart(measure.label, sides(), measure.limits));
    this.reward = new Chart("reward collected in a step, mean over agents", sides());
    this.root.replaceChildren(...this.charts.map((chart) => chart.root), this.reward.root);
    this.reward.root.hidden = scene.why !== "";
  }

  take(frame) {
    const count = this.charts.length + 1;
    for (let row = 0; row < frame.rows; row++) {
      const step = frame.step - frame.rows + 1 + row;
      const at = row * frame.columns;
      [...this.charts, this.reward].forEach((chart, number) => {
        if (step === 0) chart.clear();
        chart.add(step, frame.measures[at + number], frame.measures[at + count + number]);
      });
    }
  }
}
