// A fit that is watched: its iterations, its curves, its verdict.
import { Chart } from "./charts.js";
import { find, short } from "./words.js";

const RUNNING = ["demo", "iterating", "choosing", "judging", "errors"];
const OVER = ["stopped", "done"];
const STOPPING = {
  demo: "Stopping after the first iteration …",
  iterating: "Stopping after this iteration …",
  choosing: "The iterations are over; the verdict comes in a moment.",
  judging: "The iterations are over; the verdict comes in a moment.",
  errors: "Stopping: the error bars are left out.",
};

export class Learning {
  // say(kind, entries) talks to the studio, show(message, over) shows the reward, keep() saves it.
  constructor({ say, show, keep, seed }) {
    Object.assign(this, { say, show, seed });
    this.running = false;
    this.unsaved = false;
    this.phase = "demo";
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
    this.unsaved = false; // the studio keeps it when another swarm is shown
    find("fit-charts").hidden = true;
    find("fit-progress").hidden = true;
    find("go-on").hidden = find("keep-fit").hidden = true;
    find("fit-words").textContent = find("verdict").textContent = "";
    find("verdict").className = "";
  }

  set(running) {
    this.running = running;
    find("fit").textContent = running ? "Stop" : "Start learning";
    if (!running) find("fit").disabled = false;
    find("iterations").disabled = find("errors").disabled = running;
  }

  toggle() {
    if (this.running) {
      if (!this.say("stop")) return;
      find("fit").disabled = true; // it was heard
      find("fit-words").textContent = STOPPING[this.phase];
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
    find("verdict").textContent = find("verdict").className = "";
    this.begin(this.say("go-on"));
  }

  begin(said) {
    if (!said) return;
    this.set(true);
    this.phase = "demo";
    find("value").textContent = "";
    find("go-on").hidden = find("keep-fit").hidden = true;
    find("fit-progress").hidden = find("fit-charts").hidden = false;
    find("fit-progress").removeAttribute("value");
    find("fit-words").textContent = "Watching the expert …";
  }

  hear(message) {
    this.set(RUNNING.includes(message.phase));
    if (message.phase === "iterating") this.unsaved = true;
    this.phase = message.phase;
    if (message.weights) this.show(message, OVER.includes(message.phase));
    if (message.phase === "iterating") {
      find("fit-progress").max = message.iterations;
      find("fit-progress").value = message.iteration;
      this.distance.add(message.iteration, message.distance);
      this.margin.add(message.iteration, message.margin);
      const small = message.agents ? ` The learning swarm has ${message.agents} agents.` : "";
      if (!find("fit").disabled) find("fit-words").textContent = `Iteration ${message.iteration} of ${message.iterations}: distance ${short(message.distance)}, margin ${short(message.margin)}.${small}`;
    }
    const words = {
      choosing: "Choosing among the nearest policies by fresh roll-outs …",
      judging: "Asking whether the learned swarm does what the other did …",
      errors: `Learning from ${message.total} resampled demos, for the error bars …`,
      stopped: `Stopped after ${message.iteration} of ${message.iterations} iterations; iteration ${message.chosen} is the nearest, distance ${short(message.distance)}. Go on, or keep it.`,
      done: `Done: iteration ${message.chosen} is the nearest, distance ${short(message.distance)}. ${message.sought}`,
      failed: `Learning failed: ${message.text}`,
    }[message.phase];
    if (words) find("fit-words").textContent = words;
    if (message.verdict) {
      find("verdict").textContent = [`The learned swarm ${message.verdict}.`, ...message.advice.map((advice) => `What to do: ${advice}.`)].join(" ").replace("..", ".");
      find("verdict").className = message.alarm ? "finding bad" : "finding good";
    }
    if (["stopped", "done", "failed"].includes(message.phase)) {
      find("fit-progress").hidden = true;
      find("keep-fit").hidden = message.phase === "failed";
      find("go-on").hidden = message.phase !== "stopped";
    }
  }
}
