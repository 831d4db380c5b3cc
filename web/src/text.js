// The scenario in the address: deflated TOML behind `#`, so that a link is an experiment.

const MOST = 1 << 20;

const through = async (bytes, stream) => {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Blob(parts).arrayBuffer();
    length += value.length;
    if (length > MOST) throw new Error("too long");
    parts.push(value);
  }
};

export const toAddress = async (text) => {
  const bytes = new Uint8Array(await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw")));
  const signs = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return `#z=${btoa(signs).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
};

// The text behind `#`, or null where there is none; throws if it is damaged. Links by hand have the text itself, percent-encoded.
export const ofAddress = async (hash) => {
  const plain = hash.match(/^#toml=(.*)$/)?.[1];
  if (plain !== undefined) return decodeURIComponent(plain);
  const written = hash.match(/^#z=(.*)$/)?.[1];
  if (written === undefined) return null;
  const signs = atob(written.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(signs, (sign) => sign.charCodeAt(0));
  return new TextDecoder("utf-8", { fatal: true }).decode(await through(bytes, new DecompressionStream("deflate-raw")));
};

// A file for a shell: its content stands between two lines that it does not have.
const here = (name, text) => {
  let end = "END";
  while (text.split("\n").includes(end)) end += "_";
  const body = text.endsWith("\n") ? text : `${text}\n`;
  return `cat >${name} <<'${end}'\n${body}${end}\n`;
};

// Commands for a shell that give the same result. A name such as `../a.trace` stays within `lab`.
export const command = (text, files) => {
  const others = Object.entries(files).map(([name, content]) => here(`'lab/scenario/${name.replaceAll("'", "")}'`, content));
  const file = others.length > 0 ? "lab/scenario/scenario.toml" : "scenario.toml";
  return `${others.length > 0 ? "mkdir -p lab/scenario\n" : ""}${others.join("")}${here(file, text)}afteryou sim ${file} --out result\n`;
};

// Hands a file to the user.
export const save = (name, type, content) => {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
};

// A figure as PNG, twice its size.
export const png = async (figure) => {
  const image = new Image();
  image.src = `data:image/svg+xml;base64,${btoa(String.fromCharCode(...new TextEncoder().encode(figure)))}`;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: image.width * 2, height: image.height * 2 });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
};
