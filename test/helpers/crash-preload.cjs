// Preload with `node --require`: counts operations that change a file or commit to a database. With
// CRASH_AT, kills the process at that operation. With CRASH_COPIES, continues, but copies the
// working folder to COPIES/N before the N-th operation: what a kill there would have left. CRASH_KEEP
// (a JSON array) is a command that copies a database, too; POINT in its last argument is N. An
// interrupted write leaves half of its bytes, as a kill in the middle of it would.
const diagnostics = require("node:diagnostics_channel");
const { execFileSync } = require("node:child_process");
const path = require("node:path");
const fs = require("node:fs");
const { syncBuiltinESMExports } = require("node:module");
const { isMainThread } = require("node:worker_threads");

const crashAt = Number(process.env.CRASH_AT ?? 0);
const copies = process.env.CRASH_COPIES;
const keepDatabase = JSON.parse(process.env.CRASH_KEEP ?? "null");
const { appendFileSync, closeSync, cpSync, fstatSync, openSync, readlinkSync, rmSync, writeSync } =
  fs;
let count = 0;
/** Lookups that were answered, and at which tick the latest of them were. */
let answered = 0;
let latest = [];
/**
 * Ticks of the event loop, at least 5 ms apart. Unlike the time of day, they stand still while a copy
 * is made or other processes have the processor, when no timer of the program can fire either.
 */
let ticks = 0;
const tickMs = 5;
/** How long answers may wait to be stored together: 50 ms, and a tick at either end. */
const unstoredTicks = 50 / tickMs + 2;
/** Beginnings and ends of statements of a database server: two copies with as many have the same data. */
let statements = 0;
/** Commits in progress, during which a copy of the database would be inconsistent. */
let commits = 0;
let isCopying = false;

/** Answers that may not be stored yet. */
function recent() {
  latest = latest.filter((at) => ticks - at <= unstoredTicks);
  return latest.length;
}

function die() {
  writeSync(2, `recent answers: ${recent()}\n`);
  process.kill(process.pid, "SIGKILL");
  // Nothing more may happen until the signal arrives.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** @param {{ fd: number, bytes: Buffer, at: number | null } | undefined} half of a write */
function step(half) {
  if (isCopying) return;
  count += 1;
  if (copies !== undefined) copyFolder(half);
  if (count !== crashAt) return;
  if (half !== undefined) writeSync(half.fd, half.bytes, 0, half.bytes.length, half.at);
  die();
}

function copyFolder(half) {
  isCopying = true;
  const copy = path.join(copies, String(count));
  const folder = process.cwd();
  copyUnchanging(folder, copy);
  const name = half && path.relative(folder, readlinkSync(`/proc/self/fd/${half.fd}`));
  // Temporary files are not copied.
  if (half !== undefined && !name.startsWith("..")) {
    const { size } = fstatSync(half.fd);
    const copied = openSync(path.join(copy, name), "r+");
    // A write without a position appends: the program never seeks.
    writeSync(copied, half.bytes, 0, half.bytes.length, half.at ?? size);
    closeSync(copied);
  }
  const isCommitting = commits > 0 || !keptDatabase();
  const moment = JSON.stringify({ answered, recent: recent(), isCommitting, statements });
  appendFileSync(path.join(copies, "moments"), `${moment}\n`);
  isCopying = false;
}

/** False if a transaction that is still open locks what is to be copied. */
function keptDatabase() {
  if (keepDatabase === null) return true;
  const [program, ...args] = keepDatabase;
  const last = args.pop().replace("POINT", String(count));
  try {
    execFileSync(program, [...args, last], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Copies again if an operation that had begun before removes a file meanwhile. */
function copyUnchanging(folder, copy) {
  for (let tries = 1; ; tries++) {
    try {
      cpSync(folder, copy, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
      return;
    } catch (error) {
      if (error.code !== "ENOENT" || tries === 10) throw error;
      rmSync(copy, { recursive: true, force: true });
    }
  }
}

const opensToWrite = (flags) =>
  typeof flags === "string"
    ? /[wa+]/.test(flags)
    : typeof flags === "number" &&
      (flags & (fs.constants.O_WRONLY | fs.constants.O_RDWR | fs.constants.O_CREAT)) !== 0;

const changing =
  "appendFile copyFile fdatasync fsync ftruncate link mkdir mkdtemp rename rm rmdir symlink " +
  "truncate unlink writeFile writev";

/** The first half of a write in its various forms: (fd, buffer, offset, length, position). */
function halfOf(fd, [data, offset, length, position]) {
  if (typeof data === "string")
    return { fd, bytes: Buffer.from(data.slice(0, data.length / 2)), at: null };
  const start = typeof offset === "number" ? offset : 0;
  const size = typeof length === "number" ? length : data.byteLength - start;
  const bytes = Buffer.from(data.buffer, data.byteOffset + start, size >> 1);
  return { fd, bytes, at: typeof position === "number" ? position : null };
}

function wrap(owner, name) {
  const method = owner[name];
  if (typeof method !== "function") return;
  owner[name] = function (...args) {
    if (!name.startsWith("open") || opensToWrite(args[1])) step();
    return method.apply(this, args);
  };
}

if (isMainThread) {
  for (const name of `${changing} open`.split(" ")) {
    wrap(fs, name);
    wrap(fs, `${name}Sync`);
    wrap(fs.promises, name);
  }
  for (const name of ["write", "writeSync"]) {
    const method = fs[name];
    fs[name] = function (fd, ...args) {
      // Writes to the terminal do not count.
      if (fd > 2) step(halfOf(fd, args));
      return method.call(this, fd, ...args);
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
  diagnostics.subscribe("undici:request:trailers", ({ request }) => {
    if (!/\/(query|quick-check)\b/.test(request.path)) return;
    answered += 1;
    latest.push(ticks);
  });
  setInterval(() => (ticks += 1), tickMs).unref();
  if (process.env.CRASH_COMMITS === "duckdb") patchDuckdb();
  if (process.env.CRASH_COMMITS === "postgres") patchPostgres();
  if (process.env.CRASH_COMMITS === "objects") patchRequests();
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

/** Counts before each request that writes an object; lookups are made otherwise. */
function patchRequests() {
  const http = require("node:http");
  const { request } = http;
  http.request = function (...args) {
    const made = request.apply(this, args);
    if (made.method === "GET" || made.method === "HEAD") return made;
    step();
    statements += 1;
    return made.once("response", () => (statements += 1));
  };
}

/** Counts before and after each COMMIT. */
function aroundCommits(prototype, method) {
  const original = prototype[method];
  prototype[method] = function (...args) {
    const text = typeof args[0] === "string" ? args[0] : (args[0]?.text ?? "");
    if (!/^\s*(COMMIT|CHECKPOINT)/i.test(text)) return original.apply(this, args);
    step();
    commits += 1;
    const result = original.apply(this, args);
    if (typeof result?.then !== "function") return result;
    return result.then((value) => {
      commits -= 1;
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
  const { prototype } = require("pg").Client;
  aroundCommits(prototype, "query");
  const original = prototype["query"];
  prototype["query"] = function (...args) {
    statements += 1;
    const result = original.apply(this, args);
    const end = () => (statements += 1);
    // What COPY sends to a stream is visible only after the COMMIT.
    if (typeof result?.then === "function") result.then(end, end);
    return result;
  };
}
