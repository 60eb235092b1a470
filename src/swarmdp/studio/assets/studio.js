// The studio: what the socket says goes to the parts of the page, what people do goes back.
import { MeasureCharts } from "./charts.js";
import { Connection } from "./connection.js";
import { Keeping } from "./keeping.js";
import { Knobs } from "./knobs.js";
import { Learning } from "./learning.js";
import { keepToken, linkSettings, remember, token, tokenIn } from "./links.js";
import { Painting } from "./painting.js";
import { StageView } from "./stage.js";
import { element, find } from "./words.js";

const FILE = 9;
const PACES = [1, 2, 5, 10, 20, 30, 60];
const LABELS = { nothing: "your reward", painted: "your reward", learned: "learned", opened: "of the opened fit" };

token(); // out of the address bar at once
const first = linkSettings();
let scene = null;
let seed = first.seed;
let playing = !matchMedia("(prefers-reduced-motion: reduce)").matches;
let pending = first.weights; // of the link
let over = false;
let behaving = 0; // the newest stroke that has a policy
let planned = null; // a stroke that has a policy, until its first step is seen

const canvases = [find("left"), find("right")];
const say = (kind, entries) => connection.say(kind, entries);

// The line at the top, with a way out.
const notice = (words, ...ways) => {
  find("notice").hidden = !words;
  find("notice").querySelector("p").textContent = words ?? "";
  find("notice").querySelector(".buttons").replaceChildren(...ways.map(([name, action]) => {
    const button = element("button", { type: "button" }, name);
    button.onclick = () => {
      notice(null);
      action();
    };
    return button;
  }));
};
const close = ["Close", () => {}];

const status = (words) => { find("status").textContent = words; };
const veil = (words) => {
  find("veil").hidden = !words;
  find("veil-words").textContent = words ?? "";
};
const state = (name) => {
  document.body.dataset.state = name;
  document.querySelector("main").inert = !scene; // nothing to be done there before the first swarm
};

const moved = (by) => {
  find("right-label").textContent = LABELS[by];
  canvases[1].setAttribute("aria-label", `The swarm: ${LABELS[by]}`);
};

const note = () => remember({
  system: scene.entry, seed, settings: knobs.given, weights: scene.why === "" ? painting.weights : null,
});

const describe = () => {
  state("ready");
  const small = scene.planned_with < scene.agents ? `, planned with ${scene.planned_with} at the same density` : "";
  status(`${scene.name}: ${scene.agents} agents${small}`);
};

const charts = new MeasureCharts(find("charts"));
const stage = new StageView(canvases, {
  drawn: (frame) => {
    say("drawn", { frame: frame.number });
    if (!planned || frame.step <= planned.step) return;
    stage.stats.behaved.push(performance.now() - planned.sent);
    planned = null;
  },
  rows: (frame) => {
    charts.take(frame);
    find("clock").textContent = `t = ${frame.step}, seed ${seed}`;
  },
});
const painting = new Painting({
  send: (weights, number) => {
    painted.set(number, performance.now());
    moved("painted");
    say("paint", { weights, number });
  },
  changed: note,
});
const painted = new Map(); // when each stroke was sent
const knobs = new Knobs((given) => say("show", { system: scene.entry, settings: given, seed }));
const keeping = new Keeping({ say, canvases, label: (side) => find(["left-label", "right-label"][side]).textContent });
const learning = new Learning({
  say: (kind, entries) => {
    moved("learned");
    return say(kind, entries);
  },
  show: ({ weights, error, identified }, over) => {
    const looks = { error, clear: identified };
    if (over) painting.learn(weights, looks);
    else painting.put(weights, looks);
    note();
  },
  keep: () => keeping.keepFit(),
  seed: () => seed,
});

const play = (wish) => {
  playing = wish;
  if (playing && over) restart(seed);
  find("play").dataset.playing = playing;
  find("play").querySelector(".word").textContent = playing ? "Pause" : "Play";
  say("run", { playing });
};
const step = () => {
  play(false);
  say("step");
};
const restart = (next) => {
  over = false;
  seed = next;
  notice(null);
  say("restart", { seed });
};
const another = () => restart(Math.floor(Math.random() * 1e6));
const pace = (steps) => {
  stage.pace(steps);
  say("pace", { pace: steps });
};

const hear = {
  loading: () => {
    state("loading");
    veil("Loading …");
  },
  hello: ({ systems, folder }) => {
    find("system").replaceChildren(...systems.map((name) => element("option", {}, name)));
    find("system").disabled = false;
    find("folder").textContent = folder;
    const system = systems.includes(scene?.entry) ? scene.entry : (systems.includes(first.system) ? first.system : systems[0]);
    if (first.system && !systems.includes(first.system)) {
      notice(`The link is of ${first.system}, which this studio does not know: start it with --system MODULE:${first.system}.`, close);
    }
    const settings = scene ? knobs.given : first.system === system ? first.settings : {};
    if (scene?.why === "") pending = painting.weights;
    say("visible", { visible: !document.hidden });
    say("run", { playing });
    say("show", { system, settings, seed });
    say("list");
  },
  compiling: ({ name }) => {
    state("compiling");
    const words = `Compiling ${name}: only after an installation or an update, for about 20 seconds.`;
    if (scene) status(words);
    else veil(words);
  },
  scene: (message) => {
    const other = scene?.entry !== message.entry;
    scene = message;
    seed = message.seed;
    over = false;
    veil(null);
    describe();
    if (![...find("system").options].some((option) => option.value === message.entry)) {
      find("system").append(element("option", {}, message.entry)); // a calibrated swarm of a file
    }
    find("system").value = message.entry;
    find("left-label").textContent = message.recording ? `recording ${message.recording}` : message.left;
    canvases[0].setAttribute("aria-label", `The swarm: ${find("left-label").textContent}`);
    stage.open(message);
    charts.open(message);
    knobs.open(message);
    learning.open(message);
    painting.open(message);
    if (other) keeping.closed();
    moved(message.moved_by);
    const paces = PACES.filter((steps) => steps <= message.fastest);
    const before = Number(find("pace").value);
    find("pace").replaceChildren(...paces.map((steps) => element("option", { value: steps }, `${steps} steps/s`)));
    find("pace").value = !other && paces.includes(before) ? before : message.usual;
    pace(Number(find("pace").value));
    play(playing);
    if (pending && pending.length === painting.weights.length && message.moved_by !== "opened") {
      painting.put(pending);
      painting.pass();
    }
    pending = null;
    note();
  },
  restarted: () => {},
  planned: (message) => {
    if (message.number < painting.number) return; // there is a newer stroke
    if (painted.has(message.number)) {
      const sent = painted.get(message.number);
      stage.stats.planned.push({ settled: message.settled, took: performance.now() - sent });
      if (message.number > behaving) planned ??= { sent, step: message.step };
      behaving = message.number; // planned from nothing afterwards, it behaves already
      for (const number of painted.keys()) if (number < message.number || message.settled) painted.delete(number);
    }
    painting.tell(message);
    describe();
  },
  learning: (message) => learning.hear(message),
  list: ({ entries }) => keeping.list(entries),
  opened: (message) => {
    if (message.what === "fit") {
      painting.learn(painting.weights, { error: message.error, clear: message.identified });
      const several = message.experiments > 1 ? ` It is the first of ${message.experiments} experiments.` : "";
      const verdict = message.verdict ? ` Its verdict: ${message.verdict}.` : "";
      keeping.opened(message.name, `${message.name} is open: its reward and its swarm are shown.${several}${verdict}`);
    } else {
      const verdict = message.verdict ? ` The verdict on it: ${message.verdict}.` : "";
      keeping.opened(message.name, `${message.name} is on the left; both swarms start from its first state.${verdict}`);
    }
  },
  saved: ({ name }) => {
    if (keeping.saved(name) === "fit") learning.unsaved = false;
  },
  script: ({ text }) => keeping.copy(text, "The script is copied."),
  over: ({ steps }) => {
    over = true;
    play(false);
    notice(`The recording ends after ${steps} steps.`, ["Play it again", () => play(true)], close);
  },
  failed: ({ text }) => {
    play(false);
    state("failed");
    notice(`The swarm cannot go on: ${text}`, ["Restart", () => restart(seed)], ["Back to the defaults", () => find("defaults").click()]);
  },
  error: ({ about, text }) => {
    const ways = { open: ["Choose another", () => find("files").querySelector("button")?.focus()], show: ["Back to the defaults", () => find("defaults").click()] }[about];
    if (about === "open") keeping.notOpened(text);
    if (about === "save") keeping.notSaved(text);
    else if (["script", "gif", "page"].includes(about)) keeping.tell(text);
    else notice(about === "open" ? `This file cannot be shown: ${text}` : text, ...(ways ? [ways] : []), close);
    if (!scene) veil(text);
  },
};

const connection = new Connection({
  hear: (message) => hear[message.kind]?.(message),
  frame: (buffer) => {
    if (new Uint8Array(buffer, 0, 1)[0] === FILE) keeping.file(buffer);
    else stage.take(buffer);
  },
  state: (name, reason) => {
    find("unlock").hidden = name !== "locked";
    if (name === "connected") {
      notice(null);
      return;
    }
    state(name);
    learning.set(false);
    if (name === "locked") {
      veil("The studio is locked.");
      status("locked");
      find("pasted").focus();
    } else if (name === "refused") {
      status("closed");
      if (!scene) veil("This tab is not connected.");
      notice(`The studio has closed this tab: ${reason || "no reason was given"}.`, ["Connect again", () => connection.open()]);
    } else {
      status("disconnected");
      if (!scene) veil("This tab is not connected.");
      notice("The studio cannot be reached: it was closed, or the connection is lost. What you painted stays in this page and its address; a fit that was not saved is kept in the folder.", ["Connect now", () => connection.open()]);
    }
  },
});

find("play").onclick = () => play(!playing);
find("step").onclick = step;
find("restart").onclick = () => restart(seed);
find("reseed").onclick = another;
find("pace").onchange = () => pace(Number(find("pace").value));
find("system").onchange = () => {
  pending = null;
  say("show", { system: find("system").value, settings: {}, seed });
};
find("keys-button").onclick = () => find("keys").showModal();
find("unlock").onsubmit = (event) => {
  event.preventDefault();
  const pasted = tokenIn(find("pasted").value);
  if (!pasted) {
    notice("This is not the link of a studio: it must hold token= and letters.", close);
    return;
  }
  keepToken(pasted);
  find("pasted").value = "";
  notice(null);
  connection.open();
};
// A fit that was not saved goes with its tab: the browser asks first.
window.addEventListener("beforeunload", (event) => {
  if (learning.unsaved) event.preventDefault();
});
document.addEventListener("visibilitychange", () => say("visible", { visible: !document.hidden }));

// Controls keep the keys that they know; the others are the page's.
document.addEventListener("keydown", (event) => {
  const target = event.target;
  const writes = ["INPUT", "SELECT", "TEXTAREA"].includes(target.tagName) && !["checkbox", "range"].includes(target.type);
  if (writes || document.querySelector("dialog[open]") || event.altKey) return;
  if (event.ctrlKey || event.metaKey) {
    if (event.key !== "z") return;
    painting.undo();
    event.preventDefault();
    return;
  }
  const button = ["BUTTON", "SUMMARY", "A"].includes(target.tagName) || target.type === "checkbox";
  const actions = {
    ".": step, r: () => restart(seed), R: another, f: () => learning.toggle(), e: () => painting.asExpert(),
    F: () => learning.toggle(), E: () => painting.asExpert(), "?": () => find("keys").showModal(),
    ...(button ? {} : { " ": () => play(!playing) }),
  };
  if (!actions[event.key] || (!scene && event.key !== "?")) return;
  actions[event.key]();
  event.preventDefault();
});

globalThis.studio = { stats: stage.stats }; // for measurements
connection.open();
