// Results: curves of one or several runs on common axes, tables, and a sweep.

import { colour, frame, html, path, svg } from "./draw.js";

const SCALES = { "bit/s": [1e6, "Mbit/s"], B: [1e3, "kB"], bytes: [1e3, "kB"] };
// Wide screens get wide charts, so that text keeps its size.
const width = (place) => Math.max(340, Math.min(1200, place.clientWidth || 800));

const points = (series, scale) => series.values.map((value, i) => [series.start_s + i * series.step_s, value === null ? null : value / scale]);

const curvesOf = (result, quantity) => {
  const chart = result.plan.charts.find((chart) => chart.quantity === quantity);
  return (chart?.curves ?? []).map((curve) => ({ ...curve, series: (curve.baseline ? result.baseline : result.run).series[curve.index] }));
};

// `results` are pairs of a class and a result: the present run, a pinned one, the equations.
export const charts = (place, results) => {
  const plan = results[0][1].plan;
  const shown = ["goodput", "throughput", "rate", "queuing_delay", "rtt", "cwnd"];
  const wanted = plan.charts.filter((chart) => shown.includes(chart.quantity));
  place.replaceChildren(...wanted.map((chart) => one(place, chart, results)), legend(results));
};

const one = (place, chart, results) => {
  const [scale, unit] = SCALES[chart.unit] ?? [1, chart.unit];
  const all = results.flatMap(([kind, result]) => curvesOf(result, chart.quantity).map((curve) => ({ kind, ...curve })));
  let most = 0;
  for (const { series } of all) for (const value of series.values) if (value !== null && value > most) most = value;
  const to = Math.max(...results.map(([, result]) => result.plan.end_s));
  const { picture, x, y } = frame({ width: width(place), height: 190, to, most: (most / scale) * 1.05 || 1, label: chart.title, unit, across: " s" });
  for (const { kind, baseline, style, series, label } of all) {
    const drawn = svg("path", { class: `curve ${kind} ${baseline ? "without" : ""}`, stroke: colour(style), d: path(points(series, scale), x, y) });
    drawn.append(svg("title", {}, label));
    picture.append(drawn);
  }
  return picture;
};

const legend = (results) => {
  const names = new Map();
  for (const [kind, result] of results) {
    for (const { curves } of result.plan.charts) {
      for (const { label, baseline, style } of curves) {
        const words = { other: " (pinned)", equations: " (equations)" }[kind] ?? "";
        names.set(label + words, { kind, baseline, style });
      }
    }
  }
  const entry = ([name, { kind, baseline, style }]) => {
    const line = svg("path", { class: `curve ${kind} ${baseline ? "without" : ""}`, stroke: colour(style), d: "M0 5L26 5" });
    return html("li", {}, svg("svg", { viewBox: "0 0 26 10", "aria-hidden": "true" }, line), name);
  };
  return html("ul", { className: "legend" }, ...[...names].map(entry));
};

const cell = (text, numeric) => html("td", { textContent: text, className: numeric ? "n" : "" });

// A table in a part that scrolls on its own; `heads` end in "#" where numbers follow.
export const table = (caption, heads, rows) => {
  const numeric = heads.map((head) => head.endsWith("#"));
  const head = heads.map((text, i) => html("th", { scope: "col", textContent: text.replace("#", ""), className: numeric[i] ? "n" : "" }));
  const body = rows.map((row) => html("tr", {}, ...row.map((text, i) => cell(text, numeric[i]))));
  const made = html("table", {}, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...body));
  const scroll = html("div", { className: "scroll", tabIndex: 0 }, made);
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", caption);
  return html("div", {}, html("h2", { textContent: caption }), scroll);
};

const figures = (result, window, flow) => {
  const there = result?.windows.find((other) => other.window === window);
  return there?.flows.find((other) => other.flow === flow);
};

const mbit = (figures) => (figures ? (figures.goodput_bit_s / 1e6).toFixed(2) : "–");
const part = (figures) => (figures ? `${(figures.share_of_payload_capacity * 100).toFixed(1)} %` : "–");

// How long its transfers took on average, and how many times as long as without the background.
const took = (against) => {
  if (against?.completion_mean_s == null) return "–";
  const ratio = against.completion_mean_ratio == null ? "" : ` (×${against.completion_mean_ratio.toFixed(2)})`;
  return `${against.completion_mean_s.toFixed(3)} s${ratio}`;
};

// Key numbers of each flow and window, beside those of a pinned run.
export const numbers = (result, pinned) => {
  const rows = result.windows.flatMap(({ window, flows, links }) =>
    flows.slice(0, 12).map((flow, i) => {
      const delay = links[0]?.queuing_delay;
      const against = result.comparison.find((other) => other.window === window && other.flow === flow.flow);
      const other = figures(pinned, window, flow.flow);
      const row = [i === 0 ? window : "", flow.flow, mbit(flow), part(flow), against?.kept == null ? "–" : `${(against.kept * 100).toFixed(1)} %`];
      row.splice(4, 0, took(against));
      row.push(against?.added_delay_p95_ms == null ? "–" : `${against.added_delay_p95_ms.toFixed(1)} ms`);
      row.push(i === 0 && delay ? `${delay.p50_ms.toFixed(1)} ms` : "");
      return pinned ? [...row, mbit(other), part(other)] : row;
    }),
  );
  const heads = ["window", "flow", "Mbit/s#", "of the link#", "completion#", "kept#", "added delay#", "queue, median#"];
  return table("Key numbers", pinned ? [...heads, "pinned, Mbit/s#", "pinned, of the link#"] : heads, rows.slice(0, 120));
};

// Numbers that follow from the scenario without a run.
export const explained = ({ quantities, notes }) => {
  const rows = quantities.map(({ of, what, value, unit, formula }) => [of, what, `${Number(value.toPrecision(4))} ${unit}`, formula]);
  return [table("What the equations give", ["of", "quantity", "value#", "formula"], rows), ...notes.map((note) => html("p", { className: "faint", textContent: note }))];
};

// Values of `measures` over a setting; `present` is marked.
export const swept = (place, { name, unit, log, values, present, measures }) => {
  const scale = log ? Math.log10 : (value) => value;
  const made = measures.map(({ label, unit: of, results }) => {
    const most = Math.max(...results.filter((value) => value !== null), 1e-9) * 1.1;
    const [from, to] = [scale(values[0]), scale(values.at(-1))];
    const { picture, x, y } = frame({ width: width(place), height: 170, from: 0, to: 1, most, label: `${label} over ${name}`, unit: of, across: "" });
    // The frame's own numbers are parts of the axis: replaced by values of the setting.
    for (const text of [...picture.querySelectorAll('text[y="164"]')]) text.remove();
    const at = (value) => x((scale(value) - from) / (to - from || 1));
    values.filter((_, i) => i % Math.ceil(values.length / 6) === 0).forEach((value) => {
      picture.append(svg("text", { x: at(value), y: 164, "text-anchor": "middle" }, `${value} ${unit}`));
    });
    const ready = results.map((value, i) => [values[i], value]).filter(([, value]) => value !== undefined);
    picture.append(svg("path", { class: "curve", stroke: "currentColor", d: path(ready, at, y) }));
    picture.append(svg("line", { class: "grid present", x1: at(present), x2: at(present), y1: 22, y2: 148 }));
    const nearest = ready.findIndex(([value]) => value === present);
    if (nearest >= 0 && ready[nearest][1] !== null) picture.append(svg("circle", { cx: at(present), cy: y(ready[nearest][1]), r: 5, fill: "currentColor" }));
    return picture;
  });
  place.replaceChildren(...made);
};
