// A fit that is watched: its iterations, its curves, its verdict.
import { Chart } from "./charts.js";
import { find, short } from "./words.js";

const RUNNING = ["demo", "iterating", "choosing", "judging", "errors"];

export class Learning {
  // say(kind, entries) talks to the studio, show(weights, error) shows the reward, keep() saves it.
  constructor({ say, show, keep, seed }) {
    Object.assign(this, { say, show, seed });
    this.running = false;
    find("fit").onclick = () => this.toggle();
    find("go-on").onclick = () => this.goOn();
    find("keep-fit").onclick = keep;
    const curve = (label) => [{ label, colour: "--fill" }];
    this.distance = new Chart("distance", curve(""), [0, null], 200);
    this.margin = new Chart("margin", curve(""), [0, null], 200);
    find("fit-charts").replaceChildren(this.distance.root, this.margin.root);
    this.clear();
  }

  open(scene) {
    find("learn-hint").textContent = `The reward is found from what the ${scene.left} on the left does.`;
    if (!this.running) this.clear();
  }

  clear() {
    this.set(false);
    find("fit-charts").hidden = true;
    find("fit-progress").hidden = true;
    find("go-on").hidden = find("keep-fit").hidden = true;
    find("fit-words").textContent = find("verdict").textContent = "";
    find("verdict").classList.remove("alarm");
  }

  set(running) {
    this.running = running;
    find("fit").textContent = running ? "Stop" : "Start learning";
    find("iterations").disabled = find("errors").disabled = running;
  }

  toggle() {
    if (this.running) {
      this.say("stop");
      find("fit-words").textContent = "Stopping after this iteration …";
      return;
    }
    const iterations = Math.round(Number(find("iterations").value));
    if (!(iterations >= 1 && iterations <= 200)) {
      find("fit-words").textContent = "The number of iterations must be from 1 to 200.";
      find("iterations").focus();
      return;
    }
    this.clear();
    this.distance.clear();
    this.margin.clear();
    this.begin(this.say("learn", { seed: this.seed(), iterations, errors: find("errors").checked }));
  }

  goOn() {
    find("verdict").textContent = "";
    this.begin(this.say("go-on"));
  }

  begin(said) {
    if (!said) return;
    this.set(true);
    find("value").textContent = "";
    find("go-on").hidden = find("keep-fit").hidden = true;
    find("fit-progress").hidden = find("fit-charts").hidden = false;
    find("fit-progress").removeAttribute("value");
    find("fit-words").textContent = "Watching the expert …";
  }

  hear(told) {
    this.set(RUNNING.includes(told.phase));
    if (told.weights) this.show(told.weights, told.error);
    if (told.phase === "iterating") {
      find("fit-progress").max = told.iterations;
      find("fit-progress").value = told.iteration;
      this.distance.add(told.iteration, told.distance);
      this.margin.add(told.iteration, told.margin);
      const small = told.agents ? ` The learning swarm has ${told.agents} agents.` : "";
      find("fit-words").textContent = `Iteration ${told.iteration} of ${told.iterations}: distance ${short(told.distance)}, margin ${short(told.margin)}.${small}`;
    }
    const words = {
      choosing: "Choosing among the nearest policies by fresh roll-outs …",
      judging: "Asking whether the learned swarm does what the other did …",
      errors: `Learning from ${told.total} resampled demos, for the error bars …`,
      stopped: `Stopped after ${told.iteration} of ${told.iterations} iterations; iteration ${told.chosen} is the nearest, distance ${short(told.distance)}. Go on, or keep it.`,
      done: `Done: iteration ${told.chosen} is the nearest, distance ${short(told.distance)}. The reward is highest at ${told.highest}.`,
      failed: `Learning failed: ${told.text}`,
    }[told.phase];
    if (words) find("fit-words").textContent = words;
    if (told.verdict) {
      find("verdict").textContent = [`The learned swarm ${told.verdict}.`, ...told.advice.map((each) => `What to do: ${each}.`)].join(" ").replace("..", ".");
      find("verdict").classList.toggle("alarm", told.alarm);
    }
    if (["stopped", "done", "failed"].includes(told.phase)) {
      find("fit-progress").hidden = true;
      find("keep-fit").hidden = told.phase === "failed";
      find("go-on").hidden = told.phase !== "stopped";
    }
  }
}
