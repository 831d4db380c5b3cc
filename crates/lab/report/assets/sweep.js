"use strict";
// The page of many runs: tables that sort, filter and are saved as CSV, figures that are saved as SVG and PNG.
(() => {
  const FEW_ROWS = 6;
  const PREFIX = { n: 1e-9, "µ": 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9 };

  // "1.2 Mbit/s" in its base unit; words have no number.
  const number = (text) => {
    const found = text.replace(/[\u00a0\u202f]/g, " ").match(/^<?([-+−]?[\d.]+(?:e[-+]?\d+)?)[^A-Za-zµ%]*(?:±[^A-Za-zµ%]*)?([A-Za-zµ%/]*)/);
    if (!found) return NaN;
    const prefix = found[2].match(/^([nµmkMG])(?=s$|bit|B)/);
    return Number(found[1].replace("−", "-")) * (prefix ? PREFIX[prefix[1]] : 1);
  };

  const button = (text, action) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.addEventListener("click", action);
    return made;
  };

  const tools = (before) => {
    const made = document.createElement("p");
    made.className = "tools";
    before.before(made);
    return made;
  };

  const save = (blob, name) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  const fileName = (title, end) => title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") + end;

  // Tables

  const sortBy = (table, place, head) => {
    const descending = head.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const body = table.tBodies[0];
    const key = (row) => row.cells[place].textContent.trim();
    const order = (a, b) => {
      const [x, y] = [number(key(a)), number(key(b))];
      // Cells without a number come last, in the order of their words.
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y) || key(a).localeCompare(key(b));
      return x - y;
    };
    const rows = [...body.rows].sort((a, b) => (descending ? order(b, a) : order(a, b)));
    // Every row says everything once its neighbours are others.
    rows.forEach((row) => [...row.cells].forEach((cell) => cell.classList.remove("repeat")));
    body.append(...rows);
  };

  const filter = (table, words, count) => {
    const rows = [...table.tBodies[0].rows];
    const wanted = words.toLowerCase().split(/\s+/).filter((word) => word);
    const cells = (row) => row.textContent.replace(/[\u00a0\u202f]/g, " ").toLowerCase();
    rows.forEach((row) => { row.hidden = !wanted.every((word) => cells(row).includes(word)); });
    const shown = rows.filter((row) => !row.hidden);
    // A cell that is blank because the row above says it may have lost that row.
    if (wanted.length) shown.forEach((row) => [...row.cells].forEach((cell) => cell.classList.remove("repeat")));
    count.textContent = wanted.length ? `${shown.length} of ${rows.length} rows` : "";
  };

  const csv = (table) => {
    const rows = [table.tHead.rows[0], ...[...table.tBodies[0].rows].filter((row) => !row.hidden)];
    const cell = (cell) => `"${(cell.title || cell.textContent).trim().replace(/"/g, '""')}"`;
    return rows.map((row) => [...row.cells].map(cell).join(",") + "\n").join("");
  };

  for (const table of document.querySelectorAll(".table table")) {
    const title = table.closest("section").querySelector("h2").textContent;
    [...table.tHead.rows[0].cells].forEach((head, place) => {
      const sorts = button(head.textContent, () => sortBy(table, place, head));
      sorts.className = "sort";
      head.replaceChildren(sorts);
    });
    const line = tools(table.parentElement);
    if (table.tBodies[0].rows.length >= FEW_ROWS) {
      const words = Object.assign(document.createElement("input"), { type: "search", placeholder: "Filter rows" });
      words.setAttribute("aria-label", `Filter the rows of ${title}`);
      const count = document.createElement("span");
      count.setAttribute("role", "status");
      words.addEventListener("input", () => filter(table, words.value, count));
      line.append(words, " ", count, " ");
    }
    line.append(button("Save CSV", () => save(new Blob([csv(table)], { type: "text/csv" }), fileName(title, ".csv"))));
  }

  // Figures

  const png = (svg, name) => {
    const image = new Image();
    const [width, height] = [svg.width.baseVal.value, svg.height.baseVal.value];
    image.onload = () => {
      const canvas = Object.assign(document.createElement("canvas"), { width: 2 * width, height: 2 * height });
      const paper = canvas.getContext("2d");
      paper.fillStyle = "white";
      paper.fillRect(0, 0, canvas.width, canvas.height);
      paper.drawImage(image, 0, 0, canvas.width, canvas.height);
      URL.revokeObjectURL(image.src);
      canvas.toBlob((blob) => save(blob, name));
    };
    image.src = URL.createObjectURL(svgBlob(svg));
  };

  const svgBlob = (svg) => new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" });

  for (const svg of document.querySelectorAll("figure > svg")) {
    const title = svg.getAttribute("aria-label") ?? "figure";
    tools(svg).append(
      button("Save SVG", () => save(svgBlob(svg), fileName(title, ".svg"))),
      " ",
      button("Save PNG", () => png(svg, fileName(title, ".png"))),
    );
  }
})();
