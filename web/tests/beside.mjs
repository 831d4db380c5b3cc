// Compares two lists of `hash, milliseconds, file`: the hashes must be equal, and the second engine at least half as fast.
//
//   node web/tests/beside.mjs NATIVE OTHER [built]      "built": the native engine is not optimised fully, so speed does not count

import { readFileSync } from "node:fs";

const read = (file) => readFileSync(file, "utf8").trim().split("\n").map((line) => line.split("\t"));
const [native, other] = process.argv.slice(2, 4).map(read);
const isHash = (words) => /^[0-9a-f]{64}$/.test(words);
const differ = native.filter(([hash], i) => hash !== other[i]?.[0]);
const equal = native.filter(([hash], i) => isHash(hash) && hash === other[i]?.[0]);
// Short runs measure the compiler of the browser.
const long = native.map(([hash, ms], i) => ({ hash, native: Number(ms), other: Number(other[i][1]) })).filter((run) => isHash(run.hash) && run.native >= 100);
const sum = (key) => long.reduce((total, run) => total + run[key], 0);
const speed = sum("native") / sum("other");

console.log(`equal outcomes: ${equal.length} of ${native.length} files; refused by the page in the same words: ${native.length - equal.length - differ.length}`);
for (const [words, , file] of native) if (!isHash(words)) console.log(`  ${file}: ${words}`);
const counts = process.argv[4] !== "built";
if (counts) console.log(`engine speed over runs of 0.1 s or more: ${speed.toFixed(2)} of native (bound 0.5)`);
for (const [hash, , file] of differ) console.error(`${file}: the outcome differs from the native ${hash}`);
process.exit(differ.length > 0 || (counts && speed < 0.5) ? 1 : 0);
