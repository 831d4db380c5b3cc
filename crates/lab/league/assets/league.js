// Weights of the goals: sliders, and the order of the controllers that follows from them.
"use strict";
(() => {
  const { goals, entrants } = JSON.parse(document.getElementById("data").textContent);
  const place = document.getElementById("weights");
  const weights = goals.map(() => 1);
  const make = (tag, text, attributes = {}) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };

  const score = (scores) => {
    let sum = 0;
    let all = 0;
    scores.forEach((one, goal) => {
      if (one === null) return;
      sum += one * weights[goal];
      all += weights[goal];
    });
    return all > 0 ? sum / all : null;
  };

  const body = make("tbody");
  const show = () => {
    const ranked = entrants.map(({ name, scores }) => ({ name, score: score(scores) }));
    ranked.sort((a, b) => (b.score ?? -1) - (a.score ?? -1));
    body.replaceChildren(...ranked.map(({ name, score }, place) => {
      const row = make("tr");
      const words = score === null ? "–" : score.toFixed(3);
      row.append(make("td", place + 1, { class: "n" }), make("td", name), make("td", words, { class: "n" }));
      return row;
    }));
  };

  const sliders = make("div", undefined, { class: "weights" });
  goals.forEach((name, goal) => {
    const label = make("label");
    const words = make("span", `${name}: 1`);
    const slider = make("input", undefined, { type: "range", min: 0, max: 3, step: 0.25, value: 1 });
    slider.addEventListener("input", () => {
      weights[goal] = Number(slider.value);
      words.textContent = `${name}: ${weights[goal]}`;
      show();
    });
    label.append(words, slider);
    sliders.append(label);
  });

  const table = make("table");
  const head = make("tr");
  head.append(make("th", "", { scope: "col" }), make("th", "controller", { scope: "col" }), make("th", "score", { scope: "col", class: "n" }));
  table.append(make("thead"), body);
  table.tHead.append(head);
  const section = make("section", undefined, { class: "table" });
  section.append(table);
  place.append(make("h2", "By your weights"), sliders, section);
  show();
})();
