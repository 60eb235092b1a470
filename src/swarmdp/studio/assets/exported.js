// A page that the studio wrote: rewards with names, and beside the expert the swarm of the chosen one.
import { Meaning } from "./meaning.js";
import { framed, panelsOf } from "./panels.js";
import { find } from "./words.js";

const { blocks, colours, rewards } = JSON.parse(find("rewards").textContent);
const still = matchMedia("(prefers-reduced-motion: reduce)");
const player = document.querySelector("section.player");
const [, ...swarms] = player.querySelectorAll(".swarm"); // the expert is always shown
const buttons = [...find("choices").querySelectorAll("button")];
const meaning = new Meaning(find("meaning"), "Point at a reward to see what it is for.");
let chosen = rewards[0];

const panels = panelsOf(blocks, {
  set: null,
  over: (panel, place) => {
    if (place === null) meaning.clear();
    else meaning.show(panel.axis, place, chosen.weights[panel.indices[place]], colours);
  },
});
find("panels").replaceChildren(...panels.map(framed));

const choose = (number) => {
  chosen = rewards[number];
  swarms.forEach((swarm, other) => { swarm.hidden = other !== number; });
  buttons.forEach((button, other) => button.setAttribute("aria-pressed", other === number));
  find("told").textContent = chosen.words;
  find("collected").textContent = chosen.collected;
  const { weights, clear } = chosen;
  const most = Math.max(...weights.map(Math.abs)) || 1;
  for (const panel of panels) {
    const of = (values) => values && panel.indices.map((index) => values[index]);
    panel.draw(of(weights), most, { clear: of(clear) });
  }
  find("pale").hidden = !panels.length || !clear || clear.every(Boolean);
  player.dispatchEvent(new Event("rearranged"));
};
buttons.forEach((button, number) => {
  button.onclick = () => {
    choose(number);
    player.querySelector(".first").click();
    if (!still.matches && player.dataset.playing !== "true") player.querySelector(".play").click();
  };
});
choose(0);
