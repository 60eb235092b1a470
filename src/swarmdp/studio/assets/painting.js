// The reward as something to be painted: one panel for each component, polar for angles.
import { BarPanel } from "./bars.js";
import { PolarPanel } from "./polar.js";
import { element, find, short } from "./words.js";

const EVERY = 80; // milliseconds between strokes that are sent
const MOST_UNDO = 100;

// The panels of a reward's blocks: the first axis is painted along, the others tell panels apart.
const panelsOf = (blocks) => {
  const panels = [];
  let begin = 0;
  for (const axes of blocks) {
    const [first, ...others] = axes;
    const count = others.reduce((size, axis) => size * axis.values.length, 1);
    for (let rest = 0; rest < count; rest++) {
      const words = [];
      let left = rest;
      for (const axis of [...others].reverse()) {
        words.unshift(`${axis.label} ${short(axis.values[left % axis.values.length])}`);
        left = Math.floor(left / axis.values.length);
      }
      panels.push({
        axis: first,
        title: [first.label, ...words].join(", "),
        indices: first.values.map((_, place) => begin + place * count + rest),
      });
    }
    begin += first.values.length * count;
  }
  return panels;
};

export class Painting {
  // send(weights, number) passes a reward on; changed() is called when a person has changed it.
  constructor({ send, changed }) {
    Object.assign(this, { send, changed });
    this.weights = [];
    this.number = 0;
    this.past = [];
    this.timer = 0;
    this.sent = 0;
    find("as-expert").onclick = () => this.asExpert();
    find("flat").onclick = () => this.all(() => 0);
    find("opposite").onclick = () => this.all((weight) => -weight);
    find("smooth").onclick = () => this.smooth();
    find("undo").onclick = () => this.undo();
  }

  open(scene) {
    this.scene = scene;
    this.error = null;
    this.past = [];
    const able = scene.why === "";
    for (const id of ["as-expert", "flat", "opposite", "smooth"]) find(id).disabled = !able;
    find("paint-hint").textContent = able
      ? "Drag: what you raise, the swarm on the right seeks; what you lower, it avoids."
      : `This reward cannot be painted: ${scene.why}.`;
    find("mirror-label").hidden = !scene.mirror;
    find("value").textContent = "";
    this.panels = panelsOf(scene.blocks).map((panel) => {
      const Kind = panel.axis.periodic ? PolarPanel : BarPanel;
      return new Kind(panel, (place, value) => this.stroke(panel.indices[place], value), () => this.remember());
    });
    find("panels").replaceChildren(...this.panels.map((panel) => element("div", { class: "panel" },
      element("p", { class: "label" }, panel.title), panel.root)));
    if (able) this.put(scene.weights);
  }

  // Show a reward that was not painted here: learned, opened or of a link.
  put(weights, error = null) {
    this.weights = [...weights];
    this.error = error;
    const most = Math.max(...this.weights.map(Math.abs));
    this.scale = most > 0 ? Number(most.toPrecision(2)) : 1;
    this.draw();
  }

  visit(visited) {
    for (const panel of this.panels) panel.visit(panel.indices.map((index) => !visited || visited[index]));
  }

  draw() {
    for (const panel of this.panels) {
      panel.draw(panel.indices.map((index) => this.weights[index]), this.scale,
        this.error ? panel.indices.map((index) => this.error[index]) : null);
    }
    find("undo").disabled = this.past.length === 0;
  }

  // One weight, as a share of the scale; its mirror image follows.
  stroke(index, share) {
    const value = Number((Math.max(-1, Math.min(1, share)) * this.scale).toPrecision(3));
    this.weights[index] = value;
    if (this.scene.mirror && find("mirror").checked) this.weights[this.scene.mirror[index]] = value;
    this.error = null;
    this.draw();
    this.pass();
  }

  remember() {
    this.past.push([...this.weights]);
    if (this.past.length > MOST_UNDO) this.past.shift();
  }

  undo() {
    if (!this.past.length) return;
    this.put(this.past.pop());
    this.pass();
  }

  all(change) {
    if (this.scene?.why !== "") return;
    this.remember();
    this.put(this.weights.map(change));
    this.pass();
  }

  asExpert() {
    if (!this.scene?.expert) return;
    const most = Math.max(...this.scene.expert) || 1;
    this.all((_, index) => Number((this.scene.expert[index] / most).toPrecision(3)));
  }

  smooth() {
    const smoothed = [...this.weights];
    for (const { indices, axis } of this.panels) {
      const count = indices.length;
      indices.forEach((index, place) => {
        const around = [place - 1, place, place + 1].map((at) => (axis.periodic
          ? indices[(at + count) % count] : indices[Math.max(0, Math.min(count - 1, at))]));
        smoothed[index] = around.reduce((sum, at) => sum + this.weights[at], 0) / 3;
      });
    }
    this.all((_, index) => Number(smoothed[index].toPrecision(3)));
  }

  // Send the newest reward, not too often; the last one always.
  pass() {
    if (this.timer) return;
    const wait = Math.max(0, this.sent + EVERY - performance.now());
    this.timer = setTimeout(() => {
      this.timer = 0;
      this.sent = performance.now();
      this.number += 1;
      this.send(this.weights, this.number);
      this.changed();
    }, wait);
  }

  tell({ value, expert, best, visited }) {
    this.visit(visited);
    const other = expert === null ? "" : ` The ${this.scene.left} would collect ${short(expert)}.`;
    const far = best - value > 0.25 * Math.max(Math.abs(best), 1e-9);
    const why = far ? " No swarm that was found collects all of it." : "";
    find("value").textContent = `Each agent collects ${short(value)} a step (discounted mean); the highest reward is ${short(best)}.${other}${why}`;
    const unvisited = visited?.filter((seen) => !seen).length ?? 0;
    if (unvisited) find("value").textContent += ` Hatched: ${unvisited} observations that were never visited.`;
  }
}
