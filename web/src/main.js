// The page: the text is the truth, everything else follows from it.

import { Cancelled, Lane } from "./engine.js";
import { Controls, inText, nameOf, spread } from "./controls.js";
import { picture, times } from "./times.js";
import { charts, explained, numbers, swept } from "./charts.js";
import { command, ofAddress, png, save, toAddress } from "./text.js";
import { html } from "./draw.js";

const element = (id) => document.getElementById(id);
const data = JSON.parse(element("scenarios").textContent);
const [runs, side, equations, sweeps] = [new Lane(), new Lane(), new Lane(), new Lane()];
// Files that scenarios name: those of the page, and what the user loads.
const withAbove = ([name, content]) => [[name, content], [`../${name}`, content]];
const files = Object.fromEntries(Object.entries(data.files).flatMap(withAbove));
const written = (text, more = {}) => ({ text, files: Object.fromEntries(Object.entries(files).filter(([name]) => text.includes(name))), ...more });
const state = { text: "", followed: null, groups: [], result: null, pinned: null, fluid: null, step: null };

// A newer request has the place of a cancelled one, so nobody waits for that answer.
const ignore = (error) => {
  if (!(error instanceof Cancelled)) throw error;
};

// Changes that wait for the engine: a slider is faster, so the newest value of each path counts.
const waiting = new Map();
let busy = false;

const change = (path, value, more = {}) => {
  waiting.set(path.join("."), { path, value, ...more });
  follow();
};

// Sets the text and everything that follows from it. Changes of the text before are forgotten.
const show = (text) => {
  waiting.clear();
  state.followed = null;
  set(text);
  follow();
};

const set = (text) => {
  state.text = text;
  if (document.activeElement !== element("text")) element("text").value = text;
  run(text).catch(ignore);
};

// One question at a time until text and controls agree. Whatever changed during a question is asked next.
const follow = async () => {
  if (busy) return;
  busy = true;
  try {
    while (waiting.size > 0 || state.followed !== state.text) await (waiting.size > 0 ? edit() : control());
  } finally {
    busy = false;
  }
};

const edit = async () => {
  const { text } = state;
  const edits = [...waiting.values()].map(({ path, value }) => ({ path, value }));
  waiting.clear();
  const answer = await side.ask({ ask: "edit", text, edits });
  if (text !== state.text) return;
  if (answer.error) return fail(answer);
  set(answer.text);
};

const control = async () => {
  const { text } = state;
  const answer = await side.ask({ ask: "controls", scenario: written(text) });
  if (text !== state.text) return;
  state.followed = text;
  if (!answer.error) settings(answer);
  address(text);
};

let written_to = "";
const address = async (text) => {
  const hash = await toAddress(text);
  if (text !== state.text) return;
  written_to = hash;
  history.replaceState(null, "", hash);
};

const settings = ({ groups, duration_s: duration }) => {
  state.groups = groups;
  element("picture").replaceChildren(picture(groups));
  const focused = document.activeElement?.dataset?.key;
  // A key or a drag that the engine has not answered yet counts already.
  const path = (flow, which) => [...flow.path, which];
  const moved = (flow, which) => waiting.get(path(flow, which).join("."))?.seconds;
  const move = (flow, which, seconds) => change(path(flow, which), JSON.stringify(`${seconds} s`), { seconds });
  element("times").replaceChildren(times(groups, duration, moved, move));
  if (focused) document.querySelector(`#times [data-key="${CSS.escape(focused)}"]`)?.focus();
  controls.show(groups);
  const names = groups.flatMap((group) => group.dials.filter((dial) => dial.what === "slider").map((dial) => nameOf(group, dial)));
  const chosen = element("sweep-of").value;
  if (names.join() !== [...element("sweep-of").options].map((option) => option.value).join()) {
    element("sweep-of").replaceChildren(...names.map((name) => html("option", { value: name, textContent: name })));
    if (names.includes(chosen)) element("sweep-of").value = chosen;
  }
};

// A run that takes longer than this shows its progress.
const PATIENCE_MS = 400;

const run = async (text) => {
  const began = performance.now();
  const bar = element("progress");
  element("charts").classList.add("stale");
  const answer = await runs.ask({ ask: "run", scenario: written(text) }, (done) => {
    bar.hidden = performance.now() - began < PATIENCE_MS;
    bar.value = done;
  });
  bar.hidden = true;
  if (answer.error) return fail(answer);
  element("error").hidden = true;
  state.result = answer;
  state.fluid = null;
  draw();
  document.body.dataset.ms = Math.round(performance.now() - began);
  const first = answer.runs > 1 ? `the first of ${answer.runs} runs of this text; ` : "";
  element("note").textContent = `${first}${document.body.dataset.ms} ms${answer.warnings.map((warning) => `; ${warning}`).join("")}`;
  if (element("fluid").checked) solve(text).catch(ignore);
};

const fail = ({ error, place }) => {
  element("charts").classList.remove("stale");
  element("progress").hidden = true;
  element("error").hidden = false;
  element("error").textContent = error;
  element("sentence").textContent = "";
  element("note").textContent = place ? `line ${place[0]}, column ${place[1]} of the text` : "";
  element("text").setAttribute("aria-invalid", "true");
};

const draw = () => {
  const { result, pinned, fluid } = state;
  const all = [["", result], ["other", pinned?.result], ["equations", fluid]].filter(([, other]) => other);
  element("charts").classList.remove("stale");
  element("text").removeAttribute("aria-invalid");
  charts(element("charts"), all);
  const before = pinned ? `Pinned: ${pinned.result.sentence} Now: ` : "";
  element("sentence").textContent = before + result.sentence;
  element("numbers").replaceChildren(numbers(result, pinned?.result));
  element("hash").textContent = `Outcome ${result.hash}, afteryou ${data.version}`;
  document.body.dataset.hash = result.hash;
};

// The fluid engine's curves and the closed forms.
const solve = async (text) => {
  // A fluid has no packets to record.
  const scenario = written(text, { sets: ["record=[]"] });
  const fluid = await equations.ask({ ask: "run", engine: "fluid", scenario });
  const refused = (answer) => html("p", { className: "faint", textContent: `No equations for this scenario: ${answer.message}` });
  if (fluid.error) return element("explained").replaceChildren(refused(fluid));
  const analysis = await equations.ask({ ask: "explain", scenario });
  if (text !== state.text) return;
  state.fluid = fluid;
  element("explained").replaceChildren(...(analysis.error ? [refused(analysis)] : explained(analysis)));
  draw();
};

const POINTS = 9;
const share = (role) => (result) => {
  const window = result.windows.at(-1);
  const flows = window.flows.filter((flow) => flow.role === role);
  return flows.length ? flows.reduce((sum, flow) => sum + flow.share_of_payload_capacity * 100, 0) : null;
};
const queue = (result) => result.windows.at(-1).links[0]?.queuing_delay?.p50_ms ?? null;

const sweep = async () => {
  const pairs = state.groups.flatMap((group) => group.dials.map((dial) => [group, dial]));
  const [group, dial] = pairs.find((pair) => nameOf(...pair) === element("sweep-of").value) ?? [];
  if (!dial) return;
  const text = state.text;
  const values = [...new Set([...spread(dial, POINTS), dial.value])].sort((a, b) => a - b);
  const busiest = state.result.windows.at(-1).window;
  const measures = [["Background's part of the link", "%", share("background")], ["Foreground's part of the link", "%", share("foreground")], ["Queue, median", "ms", queue]].map(
    ([label, unit, of]) => ({ label: `${label} in "${busiest}"`, unit, of, results: [] }),
  );
  for (const value of values) {
    const edited = await sweeps.ask({ ask: "edit", text, edits: [{ path: dial.path, value: inText(dial, value) }] });
    const answer = edited.error ? edited : await sweeps.ask({ ask: "run", scenario: written(edited.text) });
    if (answer.error) {
      element("swept").replaceChildren(html("p", { textContent: `At ${value} ${dial.unit}: ${answer.message}` }));
      return;
    }
    for (const measure of measures) measure.results.push(measure.of(answer));
    const drawn = measures.filter((measure) => measure.results.some((value) => value !== null));
    swept(element("swept"), { name: nameOf(group, dial), unit: dial.unit, log: dial.form === "log", values, present: dial.value, measures: drawn });
  }
};

const FILES = { svg: ["figure.svg", "image/svg+xml"], csv: ["series.csv", "text/csv"], json: ["result.json", "application/json"] };

const exported = async (form) => {
  const answer = await sweeps.ask({ ask: "file", scenario: written(state.text), form: form === "png" ? "svg" : form });
  if (answer.error) return fail(answer);
  if (form === "png") return save("figure.png", "image/png", await png(answer.content));
  save(...FILES[form], answer.content);
};

const copy = async (text, button) => {
  const words = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    prompt("Copy this text:", text);
  }
  setTimeout(() => (button.textContent = words), 1500);
};

// The guided tour: steps of a file, each a scenario with the published figure beside it.
const visit = (step) => {
  state.step = step;
  const place = element("tour");
  place.hidden = step === null;
  if (step === null) return;
  const { title, text, published, scenario } = data.tour[step];
  const button = (words, to) => {
    const made = html("button", { type: "button", textContent: words, disabled: to !== null && !data.tour[to] });
    made.addEventListener("click", () => visit(to));
    return made;
  };
  const buttons = html("div", { className: "bar" }, button("Previous step", step - 1), button("Next step", step + 1), button("Close the tour", null));
  place.replaceChildren(
    html("h2", { textContent: `${step + 1} of ${data.tour.length}: ${title}` }),
    html("p", { textContent: text }),
    html("p", {}, html("strong", { textContent: "Published: " }), published),
    buttons,
  );
  element("start").value = "";
  show(scenario);
};

const controls = new Controls(element("controls"), change);

const listen = () => {
  element("text").addEventListener("input", () => show(element("text").value));
  element("start").append(html("option", { value: "", textContent: "…" }));
  for (const name of Object.keys(data.scenarios)) element("start").append(html("option", { value: name, textContent: name }));
  element("start").addEventListener("change", () => element("start").value && show(data.scenarios[element("start").value]));
  element("tour-open").addEventListener("click", () => visit(0));
  element("load").addEventListener("click", () => element("file").click());
  element("file").addEventListener("change", async () => {
    const chosen = [...element("file").files];
    element("file").value = "";
    const large = chosen.find((file) => file.size > 1 << 20);
    if (large) return fail({ error: `${large.name} is larger than 1 MiB` });
    const scenario = chosen.find(({ name }) => name.endsWith(".toml"));
    for (const file of chosen) if (file !== scenario) files[file.name] = await file.text();
    if (scenario) element("text").value = await scenario.text();
    show(element("text").value);
  });
  element("save").addEventListener("click", () => save("scenario.toml", "text/plain", state.text));
  element("link").addEventListener("click", ({ target }) => copy(location.href, target));
  element("command").addEventListener("click", ({ target }) => copy(command(state.text, written(state.text).files), target));
  element("pin").addEventListener("click", () => pin(state.result && { result: state.result }));
  element("unpin").addEventListener("click", () => pin(null));
  element("fluid").addEventListener("change", ({ target }) => {
    state.fluid = null;
    element("explained").replaceChildren();
    if (target.checked) return solve(state.text).catch(ignore);
    equations.cancel();
    if (state.result) draw();
  });
  element("sweep").addEventListener("click", () => sweep().catch(ignore));
  for (const button of document.querySelectorAll("[data-form]")) {
    button.addEventListener("click", () => exported(button.dataset.form).catch(ignore));
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => state.result && draw());
  addEventListener("resize", () => state.result && draw());
  addEventListener("hashchange", () => location.hash !== written_to && open());
};

const pin = (pinned) => {
  state.pinned = pinned;
  element("unpin").hidden = !pinned;
  if (state.result) draw();
};

// Opens what the address holds, or the first scenario.
const open = async () => {
  try {
    const tour = location.hash.match(/^#tour=(\d+)$/);
    if (tour && data.tour[tour[1] - 1]) return visit(tour[1] - 1);
    const named = location.hash.match(/^#scenario=(.+)$/);
    const text = named ? data.scenarios[decodeURIComponent(named[1])] : await ofAddress(location.hash);
    if (text === undefined) return fail({ error: "the page has no scenario of that name: choose one of the list" });
    show(text ?? data.scenarios["home-uplink"]);
  } catch {
    fail({ error: "the address holds a damaged scenario: copy the whole link, or choose a scenario of the list" });
  }
};

listen();
open();
