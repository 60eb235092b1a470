// The reward as something to be painted.
import { Meaning } from "./meaning.js";
import { framed, panelsOf } from "./panels.js";
import { element, find, short } from "./words.js";

const EVERY = 80; // milliseconds between strokes that are sent
const MOST_UNDO = 100;
const HINT = "Point at a reward to see what it is for.";

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
    this.meaning = new Meaning(find("meaning"), HINT);
    this.learned = null; // the reward of the latest fit, {weights, error, clear}
  }

  open(scene) {
    const other = this.scene?.entry !== scene.entry || this.weights.length !== scene.weights?.length;
    this.scene = scene;
    this.looks = {};
    this.past = [];
    this.pointed = null;
    if (other) this.learned = null;
    const able = scene.why === "";
    for (const id of ["as-expert", "flat", "opposite", "smooth"]) find(id).disabled = !able;
    find("paint-hint").textContent = able
      ? "Drag: raise what your swarm should seek, lower what it should avoid."
      : `This reward cannot be painted: ${scene.why}.`;
    find("mirror-label").hidden = !scene.mirror;
    find("value").textContent = "";
    this.panels = panelsOf(scene.blocks, {
      set: (index, value) => this.stroke(index, value),
      begin: () => this.remember(),
      over: (panel, place) => this.point(panel, place),
    });
    this.meaning.clear();
    this.offer();
    find("panels").replaceChildren(...this.panels.map(framed));
    if (able) this.put(scene.weights);
  }

  // Rewards with names, the learned one last: it can be had once there is one.
  offer() {
    const presets = this.scene.why === "" ? this.scene.presets : [];
    const button = (name, words, action) => {
      const made = element("button", { type: "button", title: words }, name);
      made.onclick = action;
      return made;
    };
    const made = presets.map(({ name, words, weights }) => button(name, `In words: ${words}`, () => {
      this.all((_, index) => weights[index]);
      find("preset-words").textContent = `${name}: ${words}.`;
    }));
    const last = button("the learned one", this.learned ? "The reward of the latest fit" : "Learn a reward first", () => {
      this.remember();
      this.put(this.learned.weights, this.learned);
      this.pass();
      find("preset-words").textContent = "the learned one: what the latest fit found.";
    });
    last.id = "learned-one";
    last.disabled = !this.learned;
    find("presets").replaceChildren(...made, ...(this.scene.why === "" ? [last] : []));
    find("preset-words").textContent = "";
  }

  // A fit has found this reward, or a file has it.
  learn(weights, looks) {
    this.learned = { weights: [...weights], ...looks };
    this.put(weights, looks);
    this.offer();
  }

  point(panel, place) {
    this.pointed = place === null ? null : { panel, place };
    if (place === null) this.meaning.clear();
    else this.meaning.show(panel.axis, place, this.weights[panel.indices[place]], this.scene.colours);
  }

  // Show a reward that was not painted here: learned, opened or of a link. Its looks are standard
  // errors and which of its weights are clear, as far as they are known.
  put(weights, { error = null, clear = null } = {}) {
    this.weights = [...weights];
    this.looks = { error, clear };
    const most = Math.max(...this.weights.map(Math.abs));
    this.scale = most > 0 ? Number(most.toPrecision(2)) : 1;
    this.draw();
  }

  visit(visited) {
    for (const panel of this.panels) panel.visit(panel.indices.map((index) => !visited || visited[index]));
  }

  draw() {
    const { error, clear } = this.looks;
    for (const panel of this.panels) {
      const of = (values) => values && panel.indices.map((index) => values[index]);
      panel.draw(of(this.weights), this.scale, { error: of(error), clear: of(clear) });
    }
    if (this.pointed) this.point(this.pointed.panel, this.pointed.place);
    find("pale").hidden = !clear || clear.every(Boolean);
    find("undo").disabled = this.past.length === 0;
  }

  // One weight, as a share of the scale; its mirror image follows.
  stroke(index, share) {
    const value = Number((Math.max(-1, Math.min(1, share)) * this.scale).toPrecision(3));
    this.weights[index] = value;
    if (this.scene.mirror && find("mirror").checked) this.weights[this.scene.mirror[index]] = value;
    this.looks = {};
    find("preset-words").textContent = "";
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
    find("preset-words").textContent = "";
    this.pass();
  }

  all(change) {
    if (this.scene?.why !== "") return;
    this.remember();
    this.put(this.weights.map(change));
    find("preset-words").textContent = "";
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
