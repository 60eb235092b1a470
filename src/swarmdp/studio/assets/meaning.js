// What an observation means: a sentence, and two agents at an angle or a spin among its neighbours.
import { drawn, element, short } from "./words.js";

const SKETCH = 72;
const ARROW = "M0 -17 L9 11 L0 5 L-9 11 Z"; // flies up

// One of the neighbours flies up; the agent flies where the angle stands on the circle.
const headings = (degrees) => [
  drawn("path", { class: "other", d: ARROW, transform: `translate(18 ${SKETCH / 2})` }),
  drawn("path", { class: "one", d: ARROW, transform: `translate(51 ${SKETCH / 2}) rotate(${degrees})` }),
];

// A spin in the middle of its neighbours, of which some have the other spin.
const neighbours = (count, side, colours) => {
  const cell = SKETCH / side;
  const middle = (side * side - 1) / 2;
  const most = side * side - 1;
  const step = most % 7 ? 7 : 5; // shares no factor with the number of places: rows are mixed
  const cells = [];
  for (let site = 0; site < side * side; site++) {
    const number = site > middle ? site - 1 : site;
    const place = (number * step) % most;
    const unlike = site !== middle && Math.floor((place + 1) * count / most) > Math.floor(place * count / most);
    cells.push(drawn("rect", {
      x: (site % side) * cell, y: Math.floor(site / side) * cell, width: cell, height: cell,
      fill: colours[unlike ? 0 : colours.length - 1],
    }));
  }
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
