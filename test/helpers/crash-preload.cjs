// Loaded before the program (`node --require`): counts what changes a file or commits to a database,
// and kills the process at the operation that CRASH_AT names. A write that is the last one leaves half
// of its bytes, as a kill in the middle of it would.
const fs = require("node:fs");
const { syncBuiltinESMExports } = require("node:module");
const { isMainThread } = require("node:worker_threads");

const crashAt = Number(process.env.CRASH_AT ?? 0);
const { writeSync } = fs;
let count = 0;

function die() {
  process.kill(process.pid, "SIGKILL");
  // Nothing more may happen until the signal arrives.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** @param {(() => void) | undefined} half writes half of what the operation would write */
function step(half) {
  count += 1;
  if (count !== crashAt) return;
  half?.();
  die();
}

const opensToWrite = (flags) =>
  typeof flags === "string"
    ? /[wa+]/.test(flags)
    : typeof flags === "number" &&
      (flags & (fs.constants.O_WRONLY | fs.constants.O_RDWR | fs.constants.O_CREAT)) !== 0;

const changing = [
  "appendFile",
  "copyFile",
  "fdatasync",
  "fsync",
  "ftruncate",
  "link",
  "mkdir",
  "mkdtemp",
  "rename",
  "rm",
  "rmdir",
  "symlink",
  "truncate",
  "unlink",
  "writeFile",
  "writev",
];

/** The position of a write in its different forms: (fd, buffer, offset, length, position). */
function halfOf(fd, [data, offset, length, position]) {
  if (typeof data === "string") return () => writeSync(fd, data.slice(0, data.length / 2));
  const start = typeof offset === "number" ? offset : 0;
  const size = typeof length === "number" ? length : data.byteLength - start;
  const at = typeof position === "number" ? position : null;
  return () => writeSync(fd, data, start, size >> 1, at);
}

function wrap(owner, name) {
  const original = owner[name];
  if (typeof original !== "function") return;
  owner[name] = function (...args) {
    if (!name.startsWith("open") || opensToWrite(args[1])) step();
    return original.apply(this, args);
  };
}

if (isMainThread) {
  for (const name of [...changing, "open"]) {
    wrap(fs, name);
    wrap(fs, `${name}Sync`);
    wrap(fs.promises, name);
  }
  for (const name of ["write", "writeSync"]) {
    const original = fs[name];
    fs[name] = function (fd, ...args) {
      // The terminal is no file of the run's.
      if (fd > 2) step(halfOf(fd, args));
      return original.call(this, fd, ...args);
    };
  }
  const openPromise = fs.promises.open;
  let patched = false;
  fs.promises.open = async function (...args) {
    const handle = await openPromise.apply(this, args);
    if (!patched) {
      patched = true;
      patchHandle(Object.getPrototypeOf(handle));
    }
    return handle;
  };
  syncBuiltinESMExports();
  if (process.env.CRASH_COMMITS === "duckdb") patchDuckdb();
  if (process.env.CRASH_COMMITS === "postgres") patchPostgres();
}

function patchHandle(prototype) {
  const write = prototype.write;
  prototype.write = function (...args) {
    step(halfOf(this.fd, args));
    return write.apply(this, args);
  };
  for (const name of ["appendFile", "datasync", "sync", "truncate", "writeFile", "writev"]) {
    wrap(prototype, name);
  }
}

/** Before and after each COMMIT. */
function aroundCommits(prototype, method) {
  const original = prototype[method];
  prototype[method] = function (...args) {
    const text = typeof args[0] === "string" ? args[0] : (args[0]?.text ?? "");
    if (!/^\s*(COMMIT|CHECKPOINT)/i.test(text)) return original.apply(this, args);
    step();
    const result = original.apply(this, args);
    if (typeof result?.then !== "function") return result;
    return result.then((value) => {
      step();
      return value;
    });
  };
}

function patchDuckdb() {
  const { DuckDBConnection } = require("@duckdb/node-api");
  for (const method of ["run", "runAndReadAll", "runAndRead"]) {
    if (typeof DuckDBConnection.prototype[method] === "function") {
      aroundCommits(DuckDBConnection.prototype, method);
    }
  }
}

function patchPostgres() {
  aroundCommits(require("pg").Client.prototype, "query");
}
