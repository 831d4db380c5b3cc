// The picture of the link, and the time line on which flows are dragged.

import { html, svg, ticks } from "./draw.js";

const ACROSS = 420;
const NAMES = 96;
const ROW = 26;

const short = (name, most = 13) => (name.length > most ? `${name.slice(0, most - 1)}…` : name);

// Senders on the left, the first link with its queue in the middle, receivers on the right.
export const picture = (groups) => {
  const flows = groups.filter((group) => group.kind === "flow").slice(0, 8);
  const link = groups.find((group) => group.kind === "link");
  const height = Math.max(2, flows.length) * 28 + 46;
  const middle = height / 2;
  const setting = (label) => link?.dials.find((dial) => dial.label === label);
  const amount = (dial) => (dial ? `${Number(dial.value.toPrecision(3))} ${dial.unit}` : "see the text");
  const words = `${flows.length} senders over a link of ${amount(setting("Rate"))}`;
  const drawn = svg("svg", { viewBox: `0 0 ${ACROSS} ${height}`, role: "img", "aria-label": words });
  flows.forEach((flow, i) => {
    const y = middle + (i - (flows.length - 1) / 2) * 28;
    drawn.append(svg("line", { class: "grid", x1: 108, y1: y, x2: 168, y2: middle }));
    drawn.append(svg("rect", { class: "box", x: 2, y: y - 12, width: 108, height: 24, rx: 4 }));
    drawn.append(svg("text", { x: 8, y: y + 4, class: "name" }, short(flow.name)));
    drawn.append(svg("text", { x: 268, y: y + 4 }, short(`${flow.stay.background ? "yields" : "first"} · ${flow.stay.controller}`, 24)));
  });
  drawn.append(svg("rect", { class: "box", x: 168, y: middle - 16, width: 54, height: 32 }));
  for (const x of [186, 198, 210]) drawn.append(svg("line", { class: "grid", x1: x, x2: x, y1: middle - 15, y2: middle + 15 }));
  drawn.append(svg("line", { class: "grid", x1: 222, x2: 262, y1: middle, y2: middle }));
  drawn.append(svg("text", { x: 195, y: 12, "text-anchor": "middle" }, `${amount(setting("Rate"))}, ${setting("Queue discipline")?.value ?? ""}`));
  drawn.append(svg("text", { x: 195, y: height - 4, "text-anchor": "middle" }, `buffer ${amount(setting("Buffer"))}`));
  return drawn;
};

// A bar for each flow; its ends are dragged or moved by arrow keys. `move` gets a group, "start" or "stop", and seconds, which
// `moved` returns for a group and an end until the groups contain them.
export const times = (groups, duration, moved, move) => {
  const flows = groups.filter((group) => group.kind === "flow");
  const height = flows.length * ROW + 22;
  const x = (at) => NAMES + (at / duration) * (ACROSS - NAMES - 12);
  const drawn = svg("svg", { viewBox: `0 0 ${ACROSS} ${height}`, role: "group", "aria-label": "Time line" });
  for (const at of ticks(duration, 6)) {
    drawn.append(svg("line", { class: "grid", x1: x(at), x2: x(at), y1: 0, y2: height - 18 }));
    drawn.append(svg("text", { x: x(at), y: height - 4, "text-anchor": "middle" }, `${at} s`));
  }
  flows.forEach((flow, i) => {
    const { moves } = flow.stay;
    const start = moved(flow, "start") ?? flow.stay.start_s;
    const stop = moved(flow, "stop") ?? flow.stay.stop_s;
    const y = i * ROW + 4;
    drawn.append(svg("text", { x: 2, y: y + 13, class: "name" }, short(flow.name)));
    drawn.append(svg("rect", { class: "box", x: x(start), y, width: Math.max(2, x(stop) - x(start)), height: 18, rx: 3 }));
    if (!moves) return;
    for (const [which, at, least, most] of [["start", start, 0, stop], ["stop", stop, start, duration]]) {
      drawn.append(edge({ drawn, x, y, which, at, least, most, duration, name: flow.name, move: (s) => move(flow, which, s) }));
    }
  });
  return html("div", {}, drawn);
};

const edge = ({ drawn, x, y, which, at, least, most, duration, name, move }) => {
  const handle = svg("rect", {
    class: "edge", x: x(at) - 4, y: y - 1, width: 8, height: 20, rx: 2, tabindex: 0, role: "slider", "data-key": `${name} ${which}`,
    "aria-label": `${name}: ${which}`, "aria-valuemin": least, "aria-valuemax": most, "aria-valuenow": at, "aria-valuetext": `${at} s`,
  });
  const step = duration / 60;
  // By the last key, which the picture shows a moment later.
  let now = at;
  const to = (s) => {
    now = Number(Math.min(most - (which === "start" ? step / 2 : 0), Math.max(least + (which === "stop" ? step / 2 : 0), s)).toPrecision(3));
    move(now);
  };
  handle.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -step, ArrowDown: -step, ArrowRight: step, ArrowUp: step, PageUp: 5 * step, PageDown: -5 * step }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    to(now + by);
  });
  handle.addEventListener("pointerdown", (down) => {
    down.preventDefault();
    const from = now;
    const scale = (duration * ACROSS) / (drawn.getBoundingClientRect().width * (ACROSS - NAMES - 12));
    const drag = (event) => to(from + (event.clientX - down.clientX) * scale);
    const end = () => removeEventListener("pointermove", drag);
    addEventListener("pointermove", drag);
    addEventListener("pointerup", end, { once: true });
    addEventListener("pointercancel", end, { once: true });
  });
  return handle;
};
