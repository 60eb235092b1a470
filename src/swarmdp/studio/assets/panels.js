// The panels of a reward: one for each component, polar for angles.
import { BarPanel } from "./bars.js";
import { PolarPanel } from "./polar.js";
import { element, short } from "./words.js";

// The parts of a reward's blocks: the first axis is painted along, the others tell panels apart.
const split = (blocks) => {
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

// Without set the panels are only looked at; over(panel, place) is told what is pointed at, or null.
export const panelsOf = (blocks, { set, begin, over }) => split(blocks).map((part) => {
  const Kind = part.axis.periodic ? PolarPanel : BarPanel;
  const panel = new Kind(part, {
    set: set && ((place, value) => set(part.indices[place], value)),
    begin,
    over: (place) => over(panel, place),
  });
  return panel;
});

export const framed = (panel) => element("div", { class: "panel" },
  element("p", { class: "label" }, panel.title), panel.root);
