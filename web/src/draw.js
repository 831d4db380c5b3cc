// SVG by hand: elements, axes, curves.

const SPACE = "http://www.w3.org/2000/svg";

// An SVG element with attributes and children.
export const svg = (name, attributes = {}, ...children) => {
  const element = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
};

// An HTML element with properties and children.
export const html = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};

export const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;
export const colour = (style) => (isDark() ? style.colour.dark : style.colour.light);

// Round numbers that divide 0 to `most` into about `parts`.
export const ticks = (most, parts) => {
  const rough = most / parts;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((size) => size >= rough * 0.999);
  const places = Math.max(0, -Math.floor(Math.log10(step)));
  return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, i) => Number((i * step).toFixed(places)));
};

const LEFT = 52;
const RIGHT = 12;

// A frame with both axes; returns it with the two scales. `from` and `to` are the ends of the horizontal axis.
export const frame = ({ width, height, from = 0, to, most, label, unit, across }) => {
  const x = (at) => LEFT + ((at - from) / (to - from)) * (width - LEFT - RIGHT);
  const y = (value) => height - 22 - (value / most) * (height - 44);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  picture.append(svg("text", { x: LEFT, y: 13, class: "name" }, `${label}${unit ? `, ${unit}` : ""}`));
  for (const value of ticks(most, height > 150 ? 5 : 3)) {
    picture.append(svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value) }));
    picture.append(svg("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, String(value)));
  }
  for (const tick of ticks(to - from, Math.max(3, Math.floor(width / 110)))) {
    const at = from + tick;
    const anchor = x(at) > width - 40 ? "end" : "middle";
    picture.append(svg("text", { x: x(at), y: height - 6, "text-anchor": anchor }, `${Number(at.toPrecision(6))}${across}`));
  }
  return { picture, x, y };
};

// Points of a path: gaps where there is no value, and at most the least and the greatest value of each pixel.
export const path = (points, x, y) => {
  let text = "";
  let pen = "M";
  let column = null;
  const flush = () => {
    if (!column) return;
    for (const [at, value] of column.ends) {
      text += `${pen}${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
      pen = "L";
    }
    column = null;
  };
  for (const [at, value] of points) {
    if (value === null) {
      flush();
      pen = "M";
      continue;
    }
    const pixel = Math.round(x(at));
    if (column?.pixel !== pixel) {
      flush();
      column = { pixel, ends: [[at, value]], least: value, most: value };
    } else if (value < column.least || value > column.most) {
      column.ends.push([at, value]);
      column.least = Math.min(column.least, value);
      column.most = Math.max(column.most, value);
    }
  }
  flush();
  return text;
};
