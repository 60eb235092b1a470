// The settings of the swarm as sliders and switches.
import { element, find, short } from "./words.js";

const FIRST = 4; // that are seen at once
const PLACES = 1000; // of a logarithmic slider

export class Knobs {
  // changed(given) gets the settings that a person has changed.
  constructor(changed) {
    this.changed = changed;
    this.given = {};
    find("defaults").onclick = () => {
      this.given = {};
      this.changed(this.given);
    };
  }

  open(scene) {
    this.given = { ...scene.given };
    const focused = document.activeElement?.id;
    const made = scene.knobs.map((knob) => (knob.kind === "boolean" ? this.toggle(knob) : this.slider(knob)));
    find("knobs").replaceChildren(...made.slice(0, FIRST));
    find("more-knobs").replaceChildren(...made.slice(FIRST));
    find("more-settings").hidden = made.length <= FIRST;
    find("settings").hidden = made.length === 0;
    if (focused?.startsWith("knob-")) find(focused)?.focus({ preventScroll: true });
  }

  set(name, value) {
    this.given[name] = value;
    this.changed(this.given);
  }

  toggle(knob) {
    const input = element("input", { type: "checkbox", id: `knob-${knob.name}` });
    input.checked = knob.value > 0;
    input.onchange = () => this.set(knob.name, input.checked ? 1 : 0);
    return element("label", { class: "knob switch", title: knob.help }, input, knob.label);
  }

  slider(knob) {
    const whole = knob.kind !== "number";
    const high = Math.max(knob.high, knob.value);
    const low = Math.min(knob.low, knob.value);
    const [log, span] = [knob.logarithmic, Math.log(high / low)];
    const value = (place) => {
      const raw = log ? low * Math.exp(place / PLACES * span) : Number(place);
      if (!whole) return Number(raw.toPrecision(6));
      return Math.round(log && raw > 100 ? Number(raw.toPrecision(2)) : raw);
    };
    const place = (shown) => (log ? Math.log(shown / low) / span * PLACES : shown);
    const input = element("input", {
      type: "range", id: `knob-${knob.name}`, min: log ? 0 : low, max: log ? PLACES : high,
      step: log ? 1 : knob.step,
    });
    const words = (shown) => `${short(shown)}${knob.degrees ? "°" : ""}`;
    const reading = element("output", { for: input.id }, words(knob.value));
    input.value = place(knob.value);
    input.setAttribute("aria-valuetext", words(knob.value));
    input.oninput = () => {
      const shown = value(input.value);
      reading.textContent = words(shown);
      input.setAttribute("aria-valuetext", words(shown));
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.set(knob.name, shown), 120);
    };
    return element("div", { class: "knob", title: knob.help },
      element("label", { for: input.id }, knob.label), reading, input);
  }
}
