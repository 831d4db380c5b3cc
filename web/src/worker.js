// Runs requests of the page, one at a time. The page ends a worker whose answer it no longer needs.
let install;
const engine = new Promise((resolve) => (install = resolve));
const ENDED = "the run ended early: it needs more memory than a page may have; use fewer flows or a shorter run, or copy the command";

// The engine asks the system for nothing but what its libraries link: no file exists, and hash tables have no secret.
const nothing = (module) => {
  const names = WebAssembly.Module.imports(module).filter((wanted) => wanted.module !== "page");
  const NO_FILE = 8;
  const answers = { random_get: () => 0, environ_get: () => 0, environ_sizes_get: () => 0 };
  return Object.fromEntries(names.map(({ name }) => [name, answers[name] ?? (() => NO_FILE)]));
};

const bytesOf = (text) => Uint8Array.from(atob(text.trim()), (sign) => sign.charCodeAt(0));

// The engine is packed by LZMA, and `unpacker` is a small module in gzip, which browsers unpack themselves. Both are base64.
const unpacked = async (unpacker, packed) => {
  const small = new Blob([bytesOf(unpacker)]).stream().pipeThrough(new DecompressionStream("gzip"));
  const module = await WebAssembly.compile(await new Response(small).arrayBuffer());
  const { memory, room, unpack, length } = (await WebAssembly.instantiate(module, { wasi_snapshot_preview1: nothing(module) })).exports;
  const bytes = bytesOf(packed);
  const address = room(bytes.length);
  new Uint8Array(memory.buffer, address, bytes.length).set(bytes);
  const content = unpack();
  return WebAssembly.compile(new Uint8Array(memory.buffer, content, length()));
};

const ask = ({ memory, room, ask, length }, request) => {
  const bytes = new TextEncoder().encode(JSON.stringify(request));
  const address = room(bytes.length);
  new Uint8Array(memory.buffer, address, bytes.length).set(bytes);
  const answer = ask();
  return JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, answer, length())));
};

onmessage = async ({ data: { unpacker, packed, module, id, request } }) => {
  if (packed) return postMessage({ module: await unpacked(unpacker, packed) });
  if (module) {
    const progress = (done) => postMessage({ done });
    install((await WebAssembly.instantiate(module, { page: { progress }, wasi_snapshot_preview1: nothing(module) })).exports);
    return;
  }
  try {
    postMessage({ id, answer: ask(await engine, request) });
  } catch {
    // A trap: its memory is exhausted, or the engine has a defect. The worker is of no use from here on.
    postMessage({ id, broken: true, answer: { error: ENDED, message: ENDED } });
  }
};
