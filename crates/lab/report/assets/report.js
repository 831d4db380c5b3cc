// Draws the charts of the page from the plan and the outcome that are embedded in it.
(() => {
  "use strict";
  const embedded = (id) => document.getElementById(id).textContent;
  const outcome = JSON.parse(embedded("outcome"));
  const plan = JSON.parse(embedded("plan"));
  const around = plan.surroundings;
  const room = document.getElementById("charts");
  const darkness = matchMedia("(prefers-color-scheme: dark)");
  const hidden = new Set(); // kinds of marks that are switched off
  const charts = [];
  let printing = false;

  const LANE = 10; // height of the ticks of marks, px
  const BAND_ROW = 16; // height of a row of window names, px
  const STRIP_ROW = 14; // height of the key of phases and of each strip, px
  const NEAR = 5; // how near the cursor must be to a mark, px

  const ink = (colour) => (darkness.matches && !printing ? colour.dark : colour.light);
  const font = (size) => `${size * uPlot.pxRatio}px system-ui, sans-serif`;
  const marks = outcome.run.marks.filter((mark) => mark.at_s != null).sort((a, b) => a.at_s - b.at_s);
  const kinds = new Map(plan.marks.map((kind) => [kind.what, kind.style]));
  const phases = plan.phases; // of controllers, below the windows
  const phaseKinds = new Map((phases ? phases.kinds : []).map((kind) => [kind.name, kind]));
  const spansOf = new Map();
  for (const span of phases ? outcome.run.phases : []) {
    if (!spansOf.has(span.flow)) spansOf.set(span.flow, []);
    spansOf.get(span.flow).push(span);
  }
  const bandRows = plan.bands.reduce((most, band) => Math.max(most, band.row + 1), 0);

  const element = (tag, className, text) => {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text != null) made.textContent = text;
    return made;
  };

  // Three digits that matter, as in the tables.
  const number = (value) => {
    if (value == null || !isFinite(value)) return "–";
    const size = Math.abs(value);
    return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
  };

  // All curves of a chart over one time axis that spans the whole run.
  const table = (chart) => {
    const tables = chart.curves.map((curve) => {
      const { start_s, step_s, values } = (curve.baseline ? outcome.baseline : outcome.run).series[curve.index];
      const usable = start_s != null && step_s > 0 ? values : [];
      // Sums of steps differ in their last bits; whole microseconds do not.
      return [usable.map((_, i) => Math.round((start_s + i * step_s) * 1e6) / 1e6), usable];
    });
    return uPlot.join([[[0, plan.end_s], [null, null]], ...tables], [[0, 0], ...tables.map(() => [0, 1])]).filter((_, i) => i !== 1);
  };

  const drawBands = (u) => {
    const { ctx, bbox } = u, px = uPlot.pxRatio;
    ctx.save();
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    ctx.font = font(11);
    for (const band of plan.bands) {
      const left = Math.max(bbox.left, u.valToPos(band.from_s, "x", true));
      const right = Math.min(bbox.left + bbox.width, u.valToPos(band.to_s, "x", true));
      if (right <= left) continue;
      const rule = bbox.top - (bandRows - band.row - 1) * BAND_ROW * px - 3 * px;
      ctx.globalAlpha = around.band_opacity;
      ctx.fillStyle = ink(around.band);
      ctx.fillRect(left, bbox.top, right - left, bbox.height);
      ctx.globalAlpha = 1;
      ctx.fillStyle = ink(around.band_name);
      ctx.fillRect(left + px / 2, rule, right - left - px, 1.5 * px);
      ctx.fillStyle = ink(around.faint);
      const name = fitted(ctx, band.name, right - left - 4 * px);
      if (name) ctx.fillText(name, (left + right) / 2, rule - 7 * px);
    }
    ctx.restore();
  };

  const fitted = (ctx, text, width) => {
    if (ctx.measureText(text).width <= width) return text;
    const letters = Array.from(text);
    while (letters.length > 1) {
      letters.pop();
      const short = letters.join("").trimEnd() + "…";
      if (letters.length > 1 && ctx.measureText(short).width <= width) return short;
    }
    return "";
  };

  // A tick at the upper edge and a thin line. Where marks are dense the lines fade, so that the curves stay visible.
  const drawMarks = (u) => {
    const { ctx, bbox } = u, px = uPlot.pxRatio;
    const { min, max } = u.scales.x;
    const visible = marks.filter((mark) => mark.at_s >= min && mark.at_s <= max && !hidden.has(mark.what));
    const perPx = visible.length / (bbox.width / px);
    const fade = perPx > 0.2 ? 0 : Math.min(0.5, 0.012 / Math.max(perPx, 1e-6));
    const often = new Map(plan.marks.map((kind) => [kind.what, kind.count]));
    visible.sort((a, b) => often.get(b.what) - often.get(a.what)); // what is rare lies on top
    ctx.save();
    let before = null;
    for (const mark of visible) {
      const x = Math.round(u.valToPos(mark.at_s, "x", true));
      if (before === x + mark.what) continue;
      before = x + mark.what;
      ctx.fillStyle = ink(kinds.get(mark.what).colour);
      ctx.globalAlpha = fade;
      ctx.fillRect(x - px / 2, bbox.top, px, bbox.height);
      ctx.globalAlpha = 1;
      ctx.fillRect(x - 0.75 * px, bbox.top, 1.5 * px, LANE * px);
    }
    ctx.restore();
  };

  const stripsHeight = (chart) => (phases && chart.quantity === "cwnd" ? (phases.strips.length + 1) * STRIP_ROW + 4 : 0);

  // The phases of each flow between the curves and the numbers of the time axis, below a key.
  const drawStrips = (u) => {
    const { ctx, bbox } = u, px = uPlot.pxRatio;
    const end = bbox.left + bbox.width;
    const middle = (row) => bbox.top + bbox.height + (8 + (row + 0.5) * STRIP_ROW) * px;
    const bar = (kind, colour, left, right, row) => {
      ctx.globalAlpha = kind.shade;
      ctx.fillStyle = ink(colour);
      ctx.fillRect(left, middle(row) - (kind.height / 2) * px, Math.max(right - left, px), kind.height * px);
      ctx.globalAlpha = 1;
    };
    ctx.save();
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    ctx.font = font(11);
    let x = bbox.left;
    for (const kind of phases.kinds) {
      bar(kind, around.ink, x, x + 16 * px, 0);
      ctx.fillStyle = ink(around.faint);
      ctx.fillText(kind.name, x + 21 * px, middle(0));
      x += ctx.measureText(kind.name).width + 35 * px;
    }
    phases.strips.forEach((strip, i) => {
      for (const span of spansOf.get(strip.flow) || []) {
        const left = Math.max(bbox.left, u.valToPos(span.from_s, "x", true));
        const right = Math.min(end, u.valToPos(span.to_s, "x", true));
        if (right > left) bar(phaseKinds.get(span.phase), strip.style.colour, left, right, i + 1);
      }
    });
    ctx.restore();
  };

  // The phase of a flow at a time; nothing where none was recorded.
  const phaseAt = (flow, at) => (spansOf.get(flow) || []).find((span) => span.from_s <= at && at < span.to_s)?.phase;

  // What happened under the cursor, beside it.
  const showTip = (u, tip) => {
    const left = u.cursor.left;
    tip.hidden = true;
    if (left == null || left < 0 || !u.over.matches(":hover")) return;
    const near = marks.filter((m) => !hidden.has(m.what) && Math.abs(u.valToPos(m.at_s, "x") - left) <= NEAR);
    if (!near.length) return;
    const lines = near.slice(0, 6).map((m) => `${kinds.get(m.what).glyph} ${m.what} · ${m.of} · ${m.at_s.toFixed(2)} s`);
    if (near.length > 6) lines.push(`and ${near.length - 6} more: zoom in to tell them apart`);
    tip.textContent = lines.join("\n");
    tip.hidden = false;
    const wide = tip.offsetWidth;
    tip.style.left = `${left + 12 + wide > u.over.clientWidth ? Math.max(0, left - 12 - wide) : left + 12}px`;
  };

  const follow = (u, key) => {
    if (key !== "x") return;
    const { min, max } = u.scales.x;
    for (const other of charts) {
      const x = other.scales.x;
      if (other !== u && (x.min !== min || x.max !== max)) other.setScale("x", { min, max });
    }
    const zoomed = min > 0 || max < plan.end_s;
    document.querySelector(".reset").hidden = !zoomed;
  };

  const reset = () => charts.length && charts[0].setScale("x", { min: 0, max: plan.end_s });

  // Without a cursor there is no value to show, only the name.
  const valueOf = (chart, curve) => (u, value, _, index) => {
    if (index == null) return "";
    if (!stripsHeight(chart) || curve.baseline) return number(value);
    const phase = phaseAt(outcome.run.series[curve.index].of, u.data[0][index]);
    return phase ? `${number(value)} · ${phase}` : number(value);
  };

  const NEARLY = 0.01; // of a chart's range: no farther apart, two curves look like one
  const OFTEN = 0.3; // part of the points

  const rangeOf = (data) => {
    const values = data.slice(1).flat().filter((value) => value != null);
    return values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [0, 0]);
  };

  // Does a later curve cover this one, elsewhere than at zero? Dashes leave what is under them to see.
  const isCovered = (data, curves, place) => {
    const [low, high] = rangeOf(data);
    const near = NEARLY * (high - low);
    const covers = (other) => {
      const both = data[place + 1].map((value, i) => [value, other[i]]);
      const apart = both.filter(([a, b]) => a != null && b != null && Math.max(Math.abs(a), Math.abs(b)) > near);
      return apart.length > 1 && apart.filter(([a, b]) => Math.abs(a - b) <= near).length > OFTEN * apart.length;
    };
    return data.slice(1).some((other, i) => i > place && !curves[i].baseline && covers(other));
  };

  // Does every curve keep one value? Such a chart needs no height.
  const isConstant = (data) =>
    data.slice(1).every((values) => new Set(values.filter((value) => value != null)).size <= 1);

  const line = (data) => (curve, i, curves) => ({
    label: `${curve.glyph} ${curve.label}`.trim(),
    stroke: () => ink(curve.style.colour),
    // A curve under another one stays visible on both sides of it.
    width: curve.baseline ? 1.25 : isCovered(data, curves, i) ? 4 : 1.75,
    dash: curve.baseline ? [5, 4] : undefined,
    points: { show: false },
  });

  const axis = (more) => ({
    stroke: () => ink(around.faint),
    font: "11px system-ui, sans-serif",
    grid: { stroke: () => ink(around.grid), width: 1 },
    ticks: { stroke: () => ink(around.grid), width: 1, size: 4 },
    ...more,
  });

  // A logarithmic axis has no place for zero.
  const positive = (data) => data.map((values, i) => (i ? values.map((value) => (value > 0 ? value : null)) : values));

  const linear = { range: (_, low, high) => {
    const [from, to] = [Math.min(0, low ?? 0), Math.max(0, high ?? 0)];
    if (to - from < 1e-9) return [from, from + 1];
    return [from < 0 ? from - (to - from) * 0.05 : 0, to + (to - from) * 0.1];
  } };

  const logarithmic = { distr: 3, range: (_, low, high) => uPlot.rangeLog(low ?? 1, high ?? 10, 10, false) };

  const options = (chart, data, tip, width, scale) => ({
    width,
    height: (isConstant(data) ? 50 : 190) + bandRows * BAND_ROW + 40 + stripsHeight(chart),
    padding: [bandRows * BAND_ROW + 6, 20, 0, 0],
    scales: {
      x: { time: false },
      y: scale,
    },
    axes: [
      axis({ size: 28 + stripsHeight(chart), gap: 5 + stripsHeight(chart), values: (_, ticks) => ticks.map((t, i) => (i === ticks.length - 1 ? `${t} s` : `${t}`)) }),
      axis({ size: 44, gap: 4, values: (_, ticks) => ticks.map((t) => (t == null ? "" : String(+t.toPrecision(6)))) }),
    ],
    series: [
      { label: "time", value: (_, at) => (at == null ? "" : `${at.toFixed(2)} s`) },
      ...chart.curves.map(line(data)).map((series, i) => ({ ...series, value: valueOf(chart, chart.curves[i]) })),
    ],
    legend: { markers: {
      width: 3,
      stroke: (u, i) => (i ? ink(chart.curves[i - 1].style.colour) : "transparent"),
      dash: (u, i) => (i && chart.curves[i - 1].baseline ? "dashed" : "solid"),
    } },
    cursor: {
      y: false,
      drag: { x: true, y: false },
      sync: { key: "time", setSeries: false, filters: { pub: (type) => /^mouse(move|enter|leave)$/.test(type) } },
      bind: { dblclick: () => () => { reset(); return null; } },
      points: { size: 7 },
    },
    hooks: { drawClear: [drawBands], draw: stripsHeight(chart) ? [drawMarks, drawStrips] : [drawMarks], setCursor: [(u) => showTip(u, tip)], setScale: [follow] },
  });

  const draw = (chart) => {
    const box = element("div", "chart");
    const title = element("h2", "", chart.title);
    if (chart.unit) title.append(" ", element("span", "", chart.unit));
    box.append(title);
    room.append(box);
    const tip = element("div", "tip");
    tip.hidden = true;
    tip.style.top = "14px";
    const data = table(chart);
    const make = (scale, data) => {
      const made = new uPlot(options(chart, data, tip, box.clientWidth, scale), data, box);
      made.over.append(tip);
      for (const head of made.root.querySelectorAll(".u-legend .u-series:not(:first-child) th")) {
        head.tabIndex = 0;
        head.title = "click to hide or show";
        head.addEventListener("keydown", (event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), head.click()));
      }
      return made;
    };
    let u = make(linear, data);
    charts.push(u);
    new ResizeObserver(() => box.clientWidth !== u.width && !printing && u.setSize({ width: box.clientWidth, height: u.height })).observe(box);
    if (isConstant(data) || rangeOf(data)[0] < 0) return;
    const log = element("button", "log", "log axis");
    log.setAttribute("aria-pressed", "false");
    log.onclick = () => {
      const on = log.getAttribute("aria-pressed") === "false";
      const { min, max } = u.scales.x;
      u.destroy();
      const made = on ? make(logarithmic, positive(data)) : make(linear, data);
      charts.splice(charts.indexOf(u), 1, made);
      u = made;
      u.setScale("x", { min, max });
      log.setAttribute("aria-pressed", String(on));
    };
    title.append(" ", log);
  };

  const redraw = () => charts.forEach((u) => {
    u.root.querySelectorAll(".u-legend .u-marker").forEach((marker, i) => {
      const stroke = u.series[i].stroke;
      if (i) marker.style.borderColor = typeof stroke === "function" ? stroke(u, i) : stroke;
    });
    u.redraw(false);
  });

  // Says how to use the charts, and switches kinds of marks on and off.
  const toolbar = () => {
    const bar = element("div", "bar");
    bar.append(element("span", "hint", "Drag to zoom, double-click to see all, click a name below a chart to hide its curve."));
    bar.append(element("span", "hint", "Each controller has one colour and one shape in all figures; a bar is a link, dashes are the run without background, shaded bands the measured windows."));
    for (const kind of plan.marks) {
      const button = element("button", "mark");
      const sign = element("span", "swatch", kind.style.glyph);
      sign.style.setProperty("--light", kind.style.colour.light);
      sign.style.setProperty("--dark", kind.style.colour.dark);
      button.append(sign, ` ${kind.what} (${kind.count})`);
      button.title = "click to hide or show these marks";
      button.setAttribute("aria-pressed", "true");
      button.onclick = () => {
        const show = hidden.delete(kind.what) || !hidden.add(kind.what);
        button.setAttribute("aria-pressed", String(show));
        redraw();
      };
      bar.append(button);
    }
    const all = element("button", "reset", "Show the whole run");
    all.hidden = true;
    all.onclick = reset;
    bar.append(all);
    room.append(bar);
  };

  const print = (on) => {
    printing = on;
    // About the width of a sheet between its margins.
    charts.forEach((u) => u.setSize({ width: on ? 690 : u.root.parentElement.clientWidth, height: u.height }));
    redraw();
  };

  const download = document.getElementById("download");
  // The embedded text itself: parsing would round large numbers.
  download.href = URL.createObjectURL(new Blob([embedded("outcome"), "\n"], { type: "application/json" }));
  download.hidden = false;

  if (!plan.charts.length) {
    room.append(element("p", "note", "No curves were recorded."));
    return;
  }
  toolbar();
  plan.charts.forEach(draw);
  darkness.addEventListener("change", redraw);
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
})();
