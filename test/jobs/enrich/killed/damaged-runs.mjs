// Runs the main job over damaged copies of a cache and of quota counts, one after the other, and
// prints a line of JSON before and after each. A separate process, in case damage ends it.
//
//   node damaged-runs.mjs '{"input", "url", "kept", "work", "seeds"}'
//
// `kept` is the folder with the originals: "cache", "state". A seed decides which file is damaged,
// where and how.
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { PassThrough } from "node:stream";
import { runToEnd } from "../../../../dist/cli/command-line/command-line.js";
import { Reporter } from "../../../../dist/cli/terminal/reporter.js";
import { systemClock } from "../../../../dist/core/clock.js";

/** Path of the file in a cache folder. */
const pageSize = 4_096;

const { input, url, kept, work, seeds } = JSON.parse(process.argv[2]);

for (const seed of seeds) {
  rmSync(work, { recursive: true, force: true });
  cpSync(kept, work, { recursive: true });
  const damage = damageOne(work, random(seed));
  say({ seed, damage });
  const rows = join(work, "out.csv");
  const args = ["enrich", input, "-o", rows, "--cache", join(work, "cache"), "--intel-url", url];
  const ended = await run([...args, "--lookups", "query", "--rate", "900/s", "--rate", "1000/d"]);
  say({ seed, damage, ...ended, rows: ended.code === 0 ? readFileSync(rows, "utf8") : null });
}

/** Damages a file below a folder, and says which and how. */
function damageOne(folder, draw) {
  const paths = filesBelow(folder).sort();
  const path = paths[Math.floor(draw() * paths.length)];
  const bytes = readFileSync(path);
  const at = Math.floor(draw() * bytes.length);
  const ways = {
    "flip a bit": () => flipped(bytes, [at], draw),
    "flip twenty bits": () =>
      flipped(
        bytes,
        Array.from({ length: 20 }, () => Math.floor(draw() * bytes.length)),
        draw,
      ),
    "flip bits of its beginning": () =>
      flipped(
        bytes,
        [at % 200, (at * 7) % 4096, at % pageSize].filter((n) => n < bytes.length),
        draw,
      ),
    "cut it off": () => bytes.subarray(0, at),
    "cut it off at a page": () => bytes.subarray(0, at - (at % pageSize)),
    "zero a page": () => Buffer.from(bytes).fill(0, ...pageAt(bytes, at)),
    "zero all": () => Buffer.alloc(bytes.length),
    "append garbage": () =>
      Buffer.concat([bytes, Buffer.from(Array.from({ length: 5_000 }, () => draw() * 256))]),
    "swap two pages": () => swapped(bytes, at, Math.floor(draw() * bytes.length)),
    "empty it": () => Buffer.alloc(0),
  };
  const names = Object.keys(ways);
  const way = names[Math.floor(draw() * names.length)];
  writeFileSync(path, ways[way]());
  return `${relative(folder, path)}: ${way} at ${at}`;
}

function flipped(bytes, places, draw) {
  const copy = Buffer.from(bytes);
  for (const place of places) if (place < copy.length) copy[place] ^= 1 << Math.floor(draw() * 8);
  return copy;
}

function swapped(bytes, one, other) {
  const copy = Buffer.from(bytes);
  const [first, second] = [pageAt(bytes, one), pageAt(bytes, other)];
  bytes.subarray(...first).copy(copy, second[0]);
  bytes.subarray(...second).copy(copy, first[0]);
  return copy;
}

/** Start and end of the page around an offset. */
function pageAt(bytes, at) {
  const from = at - (at % pageSize);
  return [from, Math.min(from + pageSize, bytes.length)];
}

function filesBelow(folder) {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  });
}

/** Runs the program like `main`. */
async function run(args) {
  const said = { text: "" };
  const stderr = { write: (text) => (said.text += text) };
  const context = {
    version: "0",
    env: { XDG_STATE_HOME: join(work, "state") },
    stdin: () => new PassThrough(),
    stdout: new PassThrough(),
    stderr,
    signal: new AbortController().signal,
    clock: systemClock,
    reporter: new Reporter(stderr),
  };
  const code = await runToEnd([...args, "--quiet"], context, { debug: false });
  return { code, stderr: said.text };
}

/** Mulberry32. */
function random(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function say(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
