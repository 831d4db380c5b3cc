// The lab page in a real browser: each control, the keyboard alone, narrow and wide, dark and light, hostile input, accessibility, and
// the bounds on size and time. Prints each number with its bound.
//
//   node web/tests/page.mjs PAGE BROWSER [FOLDER FOR SCREENSHOTS]

import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [, , page_file, browser_file, shots] = process.argv;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const address = pathToFileURL(page_file).href;
const arguments_ = ["--no-sandbox", "--disable-gpu"];
const browser = await chromium.launch({ executablePath: browser_file, args: arguments_ });
const failures = [];
let checks = 0;

const open = async (hash = "", { width = 1600, dark = false } = {}) => {
  const context = await browser.newContext({ viewport: { width, height: 1000 }, colorScheme: dark ? "dark" : "light", acceptDownloads: true, bypassCSP: false });
  const page = await context.newPage();
  page.on("pageerror", (error) => failures.push(`error in the page: ${error.message}`));
  page.on("console", (message) => message.type() === "error" && failures.push(`console: ${message.text()}`));
  page.on("request", (request) => /^https?:/.test(request.url()) && failures.push(`network: ${request.url()}`));
  await page.goto(address + hash);
  return page;
};

// Waits until the run of the present text has been drawn.
const settled = async (page) => {
  await page.waitForTimeout(60);
  await page.waitForFunction(() => document.querySelector("#charts svg") && !document.querySelector("#charts.stale"), null, { timeout: 30_000 });
};
const hash = (page) => page.evaluate(() => document.body.dataset.hash);
const sentence = (page) => page.textContent("#sentence");
const text = (page) => page.inputValue("#text");

const test = async (name, body) => {
  try {
    await body();
    checks += 1;
    console.log(`ok      ${name}`);
  } catch (error) {
    failures.push(`${name}: ${error.message}`);
    console.log(`FAILED  ${name}: ${error.message}`);
  }
};

// A measured number beside its bound.
const bound = (what, value, most, unit) => {
  console.log(`        ${what}: ${value} ${unit} (bound ${most} ${unit})`);
  assert.ok(value <= most, `${what}: ${value} ${unit} is above ${most} ${unit}`);
};

const findings = async (page) => {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document));
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(" ")).slice(0, 3)}`);
};

await test("the file and the engine stay below their sizes", async () => {
  const content = readFileSync(page_file, "utf8");
  const engine = content.match(/id="engine">([^<]*)</)[1];
  bound("single file", Math.round(statSync(page_file).size / 1000), 2000, "kB");
  const { gzipSync } = await import("node:zlib");
  const rest = gzipSync(content.replace(engine, ""), { level: 9 }).length;
  // A controller or a queue adds 5 to 10 kB.
  bound("page with engine, compressed", Math.round(((engine.length * 3) / 4 + rest) / 1000), 750, "kB");
});

await test("the first figure appears soon after opening from disk", async () => {
  const page = await open();
  await page.waitForFunction(() => document.querySelector("#charts svg"));
  bound("first figure", await page.evaluate(() => Math.round(performance.now())), 1500, "ms");
  assert.match(await sentence(page), /^The upload kept [0-9.]+\s%, and the backup took [0-9.]+\s% of the link/);
  await page.context().close();
});

await test("curves follow a slider at once, and input never waits", async () => {
  const page = await open();
  await settled(page);
  await page.waitForTimeout(500);
  const times = await page.evaluate(async () => {
    const slider = document.querySelector('#controls input[type="range"]');
    let longest = 0;
    let last = performance.now();
    const tick = setInterval(() => {
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
    }, 0);
    const measured = [];
    for (const value of [480, 520, 560, 600, 540]) {
      const before = document.querySelector("#charts svg");
      const began = performance.now();
      slider.value = value;
      slider.dispatchEvent(new Event("input", { bubbles: true }));
      await new Promise((resolve) => {
        const look = () => (document.querySelector("#charts svg") !== before ? resolve() : setTimeout(look, 2));
        look();
      });
      measured.push(performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
    clearInterval(tick);
    return { measured: measured.sort((a, b) => a - b), longest };
  });
  bound("from a slider to the new curves, median", Math.round(times.measured[2]), 300, "ms");
  bound("longest wait of input", Math.round(times.longest), 50, "ms");
  await page.context().close();
});

await test("every control changes the text, and the text every control", async () => {
  const page = await open();
  await settled(page);
  for (const summary of await page.$$("#controls summary")) await summary.click();
  const keys = await page.$$eval("#controls [id^=dial]", (dials) => dials.map((dial) => dial.id));
  assert.ok(keys.length > 30, `${keys.length} controls`);
  for (const id of keys) {
    await page.waitForSelector(`[id="${id}"]`, { state: "attached", timeout: 5000 }).catch(() => assert.fail(`${id} is not there`));
    const before = await text(page);
    const kind = await page.$eval(`[id="${id}"]`, (dial) => {
      const [now, most] = [Number(dial.value), Number(dial.max)];
      if (dial.tagName === "SELECT") dial.selectedIndex = (dial.selectedIndex + 1) % dial.options.length;
      else if (dial.type === "checkbox") dial.checked = !dial.checked;
      else dial.value = now < most * 0.9 ? now + most * 0.08 : now - most * 0.08;
      dial.dispatchEvent(new Event(dial.type === "range" ? "input" : "change", { bubbles: true }));
      return dial.type;
    });
    await page.waitForFunction((before) => document.querySelector("#text").value !== before, before, { timeout: 5000 }).catch(() => assert.fail(`${id} (${kind}) leaves the text as it is`));
    // Back, so that each control is tried on the same scenario.
    await page.$eval("#text", (area, value) => {
      area.value = value;
      area.dispatchEvent(new Event("input"));
    }, before);
  }
  await page.click("#text-part summary");
  await page.fill("#text", (await text(page)).replace('"20 Mbit/s"', '"7 Mbit/s"'));
  await page.waitForFunction(() => document.querySelector('#controls input[type="number"]').value === "7");
  await page.context().close();
});

await test("a mistake is shown at its line, and the page goes on", async () => {
  const page = await open();
  await settled(page);
  const good = await text(page);
  await page.click("#text-part summary");
  await page.fill("#text", good.replace("droptail", "droptial"));
  await page.waitForSelector("#error:not([hidden])");
  assert.match(await page.textContent("#error"), /did you mean "droptail"[\s\S]*\^\^\^/);
  assert.match(await page.textContent("#note"), /^line 28, column/);
  await page.fill("#text", good);
  await page.waitForSelector("#error", { state: "hidden" });
  await page.context().close();
});

await test("the address holds the scenario", async () => {
  const page = await open();
  await settled(page);
  const before = [await text(page), await hash(page)];
  await page.waitForFunction(() => location.hash.startsWith("#z="));
  const other = await open(await page.evaluate(() => location.hash));
  await settled(other);
  assert.deepEqual([await text(other), await hash(other)], before);
  const byHand = await open(`#toml=${encodeURIComponent(before[0])}`);
  await settled(byHand);
  assert.deepEqual([await text(byHand), await hash(byHand)], before);
  await byHand.context().close();
  await page.context().close();
  await other.context().close();
});

await test("a scenario runs with the trace that it names, and with one that is loaded", async () => {
  const page = await open("#scenario=packet-trace");
  await settled(page);
  const before = await hash(page);
  await page.setInputFiles("#file", { name: "fading.trace", mimeType: "text/plain", buffer: Buffer.from("1\n2\n4\n") });
  await page.waitForFunction((before) => document.body.dataset.hash !== before, before);
  await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: { writeText: (text) => (globalThis.copied = text) } }));
  await page.click("#command");
  const copied = await page.evaluate(() => globalThis.copied);
  assert.match(copied, /^mkdir -p lab\/scenario\ncat >'lab\/scenario\/fading.trace' <<'END'\n1\n2\n4\nEND\ncat >lab\/scenario\/scenario.toml/);
  await page.context().close();
});

await test("hostile input gets a sentence, and the page stays alive", async () => {
  const page = await open("#z=AAAA_mutated");
  await page.waitForSelector("#error:not([hidden])");
  assert.match(await page.textContent("#error"), /damaged/);
  await page.selectOption("#start", "home-uplink");
  await settled(page);
  const good = await text(page);
  await page.click("#text-part summary");
  const hostile = [
    good.replace("20 Mbit/s", "10 Gbit/s").replace('"30 s"', '"1200 s"'),
    `x = "${"a".repeat(1_000_000)}"`,
    "[".repeat(1_000_000),
    "[[flow]]\n".repeat(110_000),
    good.replace("[[flow]]", '[[flow]]\ncount = 100000'),
  ];
  for (const scenario of hostile) {
    const before = await page.textContent("#error");
    await page.$eval("#text", (area, value) => {
      area.value = value;
      area.dispatchEvent(new Event("input"));
    }, scenario);
    await page.waitForFunction((before) => document.querySelector("#error").textContent !== before, before, { timeout: 20_000 });
    assert.ok((await page.textContent("#error")).length > 10);
  }
  await page.fill("#text", good);
  await page.waitForSelector("#error", { state: "hidden" });
  await page.context().close();
});

await test("the keyboard alone moves a flow, a slider and a menu", async () => {
  const page = await open();
  await settled(page);
  await page.focus('[data-key="upload start"]');
  const before = await text(page);
  await page.keyboard.press("ArrowLeft");
  await page.waitForFunction(() => document.querySelector("#text").value.includes('"11.5 s"'));
  await page.keyboard.press("ArrowLeft");
  await page.waitForFunction(() => document.querySelector("#text").value.includes('"11 s"'));
  assert.notEqual(await text(page), before);
  // As fast as a held key, and faster: none is lost.
  for (let i = 0; i < 10; i += 1) {
    await page.keyboard.press("ArrowRight");
    await page.waitForTimeout(4 * i);
  }
  await page.waitForFunction(() => document.querySelector("#text").value.includes('"16 s"'));
  await page.focus('[id="dial-link.rate"]');
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => !document.querySelector("#text").value.includes('"20 Mbit/s"'));
  // Each control is reached by Tab, and none keeps the focus.
  await page.evaluate(() => document.activeElement.blur());
  const reached = new Set();
  for (let i = 0; i < 60; i += 1) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => document.activeElement.id || document.activeElement.dataset?.key || ""));
  }
  for (const wanted of ["start", "tour-open", "command", "upload start", "dial-link.rate", "dial-link.queue", "pin", "fluid", "sweep"]) {
    assert.ok(reached.has(wanted), `Tab does not reach ${wanted}`);
  }
  await page.context().close();
});

await test("the controls follow text that is typed fast", async () => {
  const page = await open();
  await settled(page);
  await page.evaluate(() => {
    const area = document.querySelector("#text");
    area.focus();
    for (const rate of [19, 18, 17, 16, 15]) {
      area.value = area.value.replace(/"\d+ Mbit\/s"/, `"${rate} Mbit/s"`);
      area.dispatchEvent(new Event("input"));
    }
  });
  await page.waitForFunction(() => document.querySelector('[data-key="link.rate number"]').value === "15");
  await page.context().close();
});

await test("a bar of the time line is dragged", async () => {
  const page = await open();
  await settled(page);
  const box = await (await page.$('[data-key="upload stop"]')).boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 5);
  await page.mouse.down();
  await page.mouse.move(box.x + 40, box.y + 5, { steps: 4 });
  await page.mouse.up();
  await page.waitForFunction(() => !document.querySelector("#text").value.includes('"22 s"\n\n[[flow]]\nname    = "call"'));
  await page.context().close();
});

await test("runs are compared, swept, and laid beside equations", async () => {
  const page = await open("#tour=7");
  await settled(page);
  await page.click("#pin");
  await page.selectOption('[id="dial-flow.0.controller"]', "ledbat");
  await settled(page);
  await page.waitForSelector(".curve.other", { state: "attached" });
  assert.match(await sentence(page), /^Pinned: .* Now: /);
  await page.click("#unpin");
  await page.check("#fluid");
  await page.waitForSelector(".curve.equations", { state: "attached" });
  await page.waitForSelector("#explained table");
  await page.selectOption("#sweep-of", "link: Buffer");
  await page.click("#sweep");
  await page.waitForSelector("#swept circle", { timeout: 30_000, state: "attached" });
  await page.context().close();
});

await test("files are exported and loaded", async () => {
  const page = await open();
  await settled(page);
  for (const [form, name] of [["svg", "figure.svg"], ["png", "figure.png"], ["csv", "series.csv"], ["json", "result.json"]]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(`[data-form="${form}"]`)]);
    assert.equal(download.suggestedFilename(), name);
    const file = await download.path();
    assert.ok(statSync(file).size > 1000);
    if (form === "json" && shots) await download.saveAs(`${shots}/result.json`);
    if (form === "png") assert.equal(readFileSync(file).subarray(1, 4).toString(), "PNG");
  }
  await page.setInputFiles("#file", { name: "a.toml", mimeType: "text/plain", buffer: Buffer.from((await text(page)).replace("30 s", "26 s")) });
  await page.waitForFunction(() => document.querySelector("#text").value.includes('"26 s"'));
  await page.context().close();
});

for (const [number, step] of JSON.parse(readFileSync(page_file, "utf8").match(/id="scenarios">([\s\S]*?)<\/script/)[1]).tour.entries()) {
  await test(`tour, step ${number + 1}: ${step.title}`, async () => {
    const page = await open(`#tour=${number + 1}`);
    await settled(page);
    assert.ok((await sentence(page)).length > 20);
    console.log(`        ${await sentence(page)}`);
    await page.context().close();
  });
}

for (const width of [400, 1600]) {
  for (const dark of [false, true]) {
    await test(`at ${width} px, ${dark ? "dark" : "light"}: no finding of axe, no sideways scrolling`, async () => {
      const page = await open("#tour=1", { width, dark });
      await settled(page);
      await page.click("#text-part summary");
      await page.click("#controls summary");
      await page.check("#fluid");
      await page.waitForFunction(() => document.querySelector("#explained").children.length > 0);
      await settled(page);
      assert.deepEqual(await findings(page), []);
      const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wider <= 0, `the page is ${wider} px wider than the window`);
      if (shots) await page.screenshot({ path: `${shots}/${width}-${dark ? "dark" : "light"}.png`, fullPage: true });
      await page.context().close();
    });
  }
}

await browser.close();
console.log(`${checks} checks passed, ${failures.length} failures`);
failures.forEach((failure) => console.error(failure));
process.exit(failures.length > 0 ? 1 : 0);
