// Sliders and menus from the engine's list of controls.

import { html } from "./draw.js";

const STEPS = 1000;

// Three significant digits are as much as a slider can choose.
const rounded = (value, whole) => (whole ? Math.round(value) : Number(value.toPrecision(3)));

const toPlace = ({ min, max, form }, value) =>
  STEPS * (form === "log" ? Math.log(value / min) / Math.log(max / min) : (value - min) / (max - min || 1));

const ofPlace = ({ min, max, form, whole }, place) => {
  const part = place / STEPS;
  return rounded(form === "log" ? min * (max / min) ** part : min + (max - min) * part, whole);
};

// Values of a slider at equal distances on its scale.
export const spread = (dial, number) => {
  const places = Array.from({ length: number }, (_, i) => (i * STEPS) / (number - 1));
  return [...new Set(places.map((place) => ofPlace(dial, place)))];
};

// A slider's value as in the text.
export const inText = ({ form, unit }, value) => {
  const quoted = JSON.stringify(`${value} ${unit}`);
  if (form === "bare") return String(value);
  if (form === "uniform") return value === 0 ? null : `{ uniform = ${quoted} }`;
  return quoted;
};

const key = (path) => path.join(".");
export const nameOf = (group, dial) => `${group.name}: ${dial.label}`;

// Keeps `place` filled with the controls of `groups`; `change` gets a path and the value as in the text.
export class Controls {
  constructor(place, change) {
    Object.assign(this, { place, change, shape: "", setters: new Map(), open: new Set() });
  }

  show(groups) {
    const shape = JSON.stringify(groups.map(({ name, dials }) => [name, dials.map(({ path, what, unit, min, max }) => [path, what, unit, min, max])]));
    if (shape !== this.shape) this.build(groups, shape);
    for (const dial of groups.flatMap((group) => group.dials)) this.setters.get(key(dial.path))(dial);
  }

  build(groups, shape) {
    this.shape = shape;
    this.setters.clear();
    const focused = document.activeElement?.dataset?.key;
    this.place.replaceChildren(...groups.map((group) => this.group(group)));
    if (focused) this.place.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }

  group(group) {
    const set = html("fieldset", {}, html("legend", { textContent: group.name }));
    set.append(...group.dials.filter((dial) => !dial.parameter).map((dial) => this.dial(group, dial)));
    const parameters = group.dials.filter((dial) => dial.parameter);
    if (parameters.length === 0) return set;
    const name = key(group.path);
    const more = html("details", { open: this.open.has(name) }, html("summary", { textContent: `Parameters (${parameters.length})` }));
    more.addEventListener("toggle", () => this.open[more.open ? "add" : "delete"](name));
    more.append(...parameters.map((dial) => this.dial(group, dial)));
    set.append(more);
    return set;
  }

  dial(group, dial) {
    const make = { slider: () => this.slider(dial), menu: () => this.menu(dial), switch: () => this.toggle(dial) }[dial.what];
    const { main, rest } = make();
    const id = `dial-${key(dial.path)}`;
    Object.assign(main, { id });
    main.dataset.key = key(dial.path);
    const label = html("label", { htmlFor: id, textContent: dial.label, title: dial.help });
    for (const extra of rest) extra.querySelector("input")?.setAttribute("aria-label", `${nameOf(group, dial)}, value`);
    return html("div", { className: "dial" }, label, main, ...rest);
  }

  slider(dial) {
    const main = html("input", { type: "range", min: 0, max: STEPS, step: 1 });
    const number = html("input", { type: "number", step: "any" });
    number.min = dial.form === "bare" ? "" : 0;
    number.dataset.key = `${key(dial.path)} number`;
    let now = dial;
    this.setters.set(key(dial.path), (next) => {
      now = next;
      if (document.activeElement !== main) main.value = toPlace(next, next.value);
      if (document.activeElement !== number) number.value = rounded(next.value, next.whole);
      main.setAttribute("aria-valuetext", `${rounded(next.value, next.whole)} ${next.unit}`);
    });
    main.addEventListener("input", () => {
      const value = ofPlace(now, Number(main.value));
      number.value = value;
      main.setAttribute("aria-valuetext", `${value} ${now.unit}`);
      this.change(dial.path, inText(now, value));
    });
    number.addEventListener("change", () => {
      if (number.value !== "") this.change(dial.path, inText(now, Number(number.value)));
    });
    return { main, rest: [html("span", { className: "value" }, number, html("span", { className: "unit", textContent: dial.unit }))] };
  }

  menu(dial) {
    const options = dial.choices.map(([value, words]) => html("option", { value, textContent: value, title: words }));
    const main = html("select", {}, ...options);
    this.setters.set(key(dial.path), ({ value }) => (main.value = value));
    main.addEventListener("change", () => this.change(dial.path, JSON.stringify(main.value)));
    return { main, rest: [] };
  }

  toggle(dial) {
    const main = html("input", { type: "checkbox" });
    this.setters.set(key(dial.path), ({ value }) => (main.checked = value));
    main.addEventListener("change", () => this.change(dial.path, String(main.checked)));
    return { main, rest: [] };
  }
}
