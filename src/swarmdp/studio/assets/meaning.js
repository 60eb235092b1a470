// What an observation means: a sentence, and two agents at an angle or a spin among its neighbours.
import { drawn, element, short } from "./words.js";

const SKETCH = 72;
const GOLDEN = (Math.sqrt(5) - 1) / 2; // its multiples are spread evenly
const ARROW = "M0 -17 L9 11 L0 5 L-9 11 Z"; // flies up

// One of the neighbours flies up; the agent flies where the angle stands on the circle.
const headings = (degrees) => [
  drawn("path", { class: "other", d: ARROW, transform: `translate(18 ${SKETCH / 2})` }),
  drawn("path", { class: "one", d: ARROW, transform: `translate(51 ${SKETCH / 2}) rotate(${degrees})` }),
];

// A spin in the middle of its neighbours, of which some have the other spin, here and there.
const neighbours = (count, side, colours) => {
  const cell = SKETCH / side;
  const middle = (side * side - 1) / 2;
  const mixed = Array.from({ length: side * side }, (_, site) => site).filter((site) => site !== middle)
    .sort((one, other) => one * GOLDEN % 1 - other * GOLDEN % 1);
  const unlike = new Set(mixed.slice(0, count));
  const cells = Array.from({ length: side * side }, (_, site) => drawn("rect", {
    x: (site % side) * cell, y: Math.floor(site / side) * cell, width: cell, height: cell,
    fill: colours[unlike.has(site) ? 0 : colours.length - 1],
  }));
  const at = (side - 1) / 2 * cell;
  return [...cells, drawn("rect", { class: "self", x: at + 1, y: at + 1, width: cell - 2, height: cell - 2 })];
};

export class Meaning {
  constructor(root, hint) {
    this.hint = hint;
    this.sketch = drawn("svg", { class: "sketch", viewBox: `0 0 ${SKETCH} ${SKETCH}`, "aria-hidden": "true" });
    this.words = element("p");
    root.replaceChildren(this.sketch, this.words);
    this.clear();
  }

  clear() {
    this.sketch.replaceChildren();
    this.words.textContent = this.hint;
  }

  // What one place of an axis means, and the reward that it has.
  show(axis, place, reward, colours) {
    const { sketch, words, side } = axis.meaning;
    const value = axis.values[place];
    const drawings = {
      headings: () => headings(value), neighbours: () => neighbours(place, side, colours),
    };
    this.sketch.replaceChildren(...(drawings[sketch]?.() ?? []));
    const name = typeof value === "string" ? value : `${short(value)}${axis.units === "degrees" ? "°" : ""}`;
    this.words.replaceChildren(element("b", {}, name), `: ${words[place]}. `,
      element("span", { class: "reward" }, `Reward ${short(reward)}.`));
  }
}
