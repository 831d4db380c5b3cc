// The pages of a run and of a sweep in a real browser: sorting, filtering, saving, 400 px, dark, accessibility.
//
//   node web/tests/pages.mjs RUN/report.html SWEEP/report.html BROWSER

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [, , run, sweep, browser_file] = process.argv;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browser = await chromium.launch({ executablePath: browser_file, args: ["--no-sandbox", "--disable-gpu"] });

const open = async (file, width, dark) => {
  const context = await browser.newContext({ viewport: { width, height: 1000 }, colorScheme: dark ? "dark" : "light", acceptDownloads: true });
  const page = await context.newPage();
  page.on("pageerror", (error) => { throw error; });
  page.on("console", (message) => assert.notEqual(message.type(), "error", message.text()));
  await page.goto(pathToFileURL(file).href);
  return page;
};

for (const [name, file] of [["run", run], ["sweep", sweep]]) {
  for (const [width, dark] of [[1600, false], [400, true]]) {
    const page = await open(file, width, dark);
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => globalThis.axe.run(document));
    assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes[0].target}`), [], `${name} at ${width} px`);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= width, `${name} scrolls sideways at ${width} px`);
    await page.context().close();
    console.log(`ok      page of a ${name} at ${width} px: no finding of axe, no sideways scrolling`);
  }
}

const single = await open(run, 1600, false);
const switches = single.getByRole("button", { name: "log axis" });
const charts = await single.locator(".uplot").count();
await switches.first().focus();
for (const pressed of ["true", "false"]) {
  await single.keyboard.press("Enter");
  assert.equal(await switches.first().getAttribute("aria-pressed"), pressed);
  assert.equal(await single.locator(".uplot").count(), charts);
}
console.log("ok      a chart has a logarithmic axis, and its own again");

const page = await open(sweep, 1600, false);
const column = (place) => page.$eval(".table tbody", (body, place) =>
  [...body.rows].filter((row) => !row.hidden).map((row) => parseFloat(row.cells[place].textContent)), place);
const [utilisation] = await page.$$eval(".table:first-of-type th", (heads) =>
  heads.flatMap((head, place) => (head.textContent === "utilisation" ? [place] : [])));
const heads = page.locator(".table").first().locator("th button");
await heads.nth(utilisation).focus();
await page.keyboard.press("Enter");
const rising = await column(utilisation);
assert.deepEqual(rising, [...rising].sort((a, b) => a - b));
await page.keyboard.press("Enter");
assert.deepEqual(await column(utilisation), [...rising].sort((a, b) => b - a));
console.log("ok      a table is sorted by the keyboard, both ways");

const rows = rising.length;
await page.locator("input[type=search]").first().fill("ledbat++ 300");
const shown = (await column(0)).length;
assert.ok(shown > 0 && shown < rows, `${shown} of ${rows}`);
assert.equal(await page.locator("[role=status]").first().textContent(), `${shown} of ${rows} rows`);
const saved = async (words) => {
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: words }).first().click()]);
  return readFileSync(await file.path());
};
const csv = (await saved("Save CSV")).toString().trim().split("\n");
assert.equal(csv.length, 1 + shown);
assert.ok(csv.slice(1).every((row) => row.includes('"ledbat++"') && row.includes("300")), csv.join("\n"));
console.log("ok      rows are filtered, and those that are shown are saved as CSV");

assert.ok((await saved("Save SVG")).toString().startsWith("<svg "));
assert.equal((await saved("Save PNG")).subarray(1, 4).toString(), "PNG");
console.log("ok      a figure is saved as SVG and as PNG");
await browser.close();
