// Workers with the engine: each lane has one request at a time, and a newer request cancels the older one.

const contents = (id) => document.getElementById(id).textContent;
const source = URL.createObjectURL(new Blob([contents("worker")], { type: "text/javascript" }));

const compiled = new Promise((resolve) => {
  const worker = new Worker(source);
  worker.onmessage = ({ data }) => {
    worker.terminate();
    resolve(data.module);
  };
  worker.postMessage({ unpacker: contents("unpacker"), packed: contents("engine") });
});

const start = () => {
  const worker = new Worker(source);
  compiled.then((module) => worker.postMessage({ module }));
  return worker;
};

// A request that a newer one has replaced.
export class Cancelled extends Error {}

// A lane keeps one worker in reserve, so that a cancelled run costs no start.
export class Lane {
  constructor() {
    this.worker = start();
    this.reserve = null;
    this.pending = null;
  }

  // Answers `request`; cancels the one before. `progress` gets the part that is done.
  ask(request, progress = () => {}) {
    this.cancel();
    const id = crypto.getRandomValues(new Uint32Array(1))[0];
    return new Promise((resolve, reject) => {
      this.pending = { reject };
      this.worker.onmessage = ({ data }) => {
        if (data.done !== undefined) return progress(data.done);
        if (data.id !== id) return;
        this.pending = null;
        if (data.broken) this.replace();
        this.reserve ??= start();
        resolve(data.answer);
      };
      this.worker.postMessage({ id, request });
    });
  }

  cancel() {
    if (!this.pending) return;
    this.pending.reject(new Cancelled());
    this.pending = null;
    this.replace();
  }

  replace() {
    this.worker.terminate();
    this.worker = this.reserve ?? start();
    this.reserve = start();
  }
}
