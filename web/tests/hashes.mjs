// Runs the first point of scenario files with the engine of a built page, and prints a line for each: hash, milliseconds, file.
//
//   node web/tests/hashes.mjs PAGE FILE…

import { readFileSync } from "node:fs";
import { createContext, runInContext } from "node:vm";

const [, , page, ...files] = process.argv;
const content = readFileSync(page, "utf8");
const part = (id) => content.match(new RegExp(`id="${id}">([\\s\\S]*?)</script>`))[1];

// The page's own worker, with this program in place of the page.
let taken;
const bare = () => {
  const known = { WebAssembly, TextEncoder, TextDecoder, Blob, DecompressionStream, Response, atob };
  const worker = { ...known, postMessage: (message) => (message.answer || message.module) && taken(message) };
  runInContext(part("worker"), createContext(worker));
  return worker;
};
const sent = (worker, data) =>
  new Promise((resolve) => {
    taken = resolve;
    worker.onmessage({ data });
  });
const { module } = await sent(bare(), { unpacker: part("unpacker"), packed: part("engine") });
const start = () => {
  const worker = bare();
  worker.onmessage({ data: { module } });
  return worker;
};

const named = Object.entries(JSON.parse(part("scenarios")).files);
const beside = Object.fromEntries(named.flatMap(([name, content]) => [[name, content], [`../${name}`, content]]));
let worker = start();
for (const file of files) {
  const request = { ask: "run", scenario: { text: readFileSync(file, "utf8"), files: beside } };
  const began = performance.now();
  const { answer, broken } = await sent(worker, { id: 1, request });
  if (broken) worker = start();
  console.log(`${(answer.hash ?? answer.message).replaceAll("\n", " ")}\t${Math.round(performance.now() - began)}\t${file}`);
}
