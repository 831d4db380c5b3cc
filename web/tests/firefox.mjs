// The lab page in Firefox: the first figure, a slider, and the same outcome as in Chromium and natively.
//
//   node web/tests/firefox.mjs PAGE BROWSER HASH      HASH is that of scenarios/home-uplink.toml

import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { launch } from "puppeteer-core";

const [, , page_file, executablePath, hash] = process.argv;
const browser = await launch({ browser: "firefox", executablePath, headless: true });
const page = await browser.newPage();
const errors = [];
page.on("pageerror", ({ message }) => errors.push(message));
page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
await page.goto(pathToFileURL(page_file).href);
await page.waitForFunction(() => document.body.dataset.hash, { timeout: 30_000 });
const first = await page.evaluate(() => [document.body.dataset.hash, Math.round(performance.now())]);
assert.equal(first[0], hash);
await page.focus('[id="dial-link.rate"]');
await page.keyboard.press("ArrowRight");
await page.waitForFunction((hash) => document.body.dataset.hash !== hash && !document.querySelector("#charts.stale"), { timeout: 30_000 }, hash);
const after = await page.evaluate(() => document.body.dataset.ms);
assert.deepEqual(errors, []);
console.log(`ok      ${await browser.version()}: the outcome is the same; first figure by ${first[1]} ms, curves ${after} ms after a key on a slider`);
await browser.close();
