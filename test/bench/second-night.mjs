// Two nightly runs with a cache: how many requests the second one makes, what its plan says, and how
// much faster it is. The service answers at once, so the ratio is the minimum that users see. Needs a
// build.
//
//   node test/bench/second-night.mjs FILE [--pairs 3] [-- FLAGS]      the same file twice
//   node test/bench/second-night.mjs [--rows 1000000] [--changed 10] …         a generated file, of
//                                  which that percentage is new in the second night; FLAGS are those of
//                                  both enrich and plan
//
// Users wait for wall-clock time; CPU time depends less on other load of the machine.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { itemAt, writeInput } from "./items.mjs";

const words = process.argv.slice(2);
const dashes = words.includes("--") ? words.indexOf("--") : words.length;
const { values, positionals } = parseArgs({
  args: words.slice(0, dashes),
  allowPositionals: true,
  options: {
    pairs: { type: "string", default: "3" },
    rows: { type: "string", default: "1000000" },
    changed: { type: "string", default: "10" },
  },
});

const program = fileURLToPath(new URL("../../dist/program/repute.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "repute-bench-"));
const server = spawn(process.execPath, [
  fileURLToPath(new URL("instant-server.mjs", import.meta.url)),
]);
const url = await new Promise((done) =>
  server.stdout.once("data", (text) => done(String(text).trim())),
);

/** A module that prints the CPU seconds of the program at exit. */
const tellsProcessorTime = `data:text/javascript,${encodeURIComponent(`
  import { writeSync } from "node:fs";
  process.on("exit", () => {
    const { userCPUTime, systemCPUTime } = process.resourceUsage();
    writeSync(3, String((userCPUTime + systemCPUTime) / 1e6));
  });`)}`;

const ratios = { wall: [], processor: [] };
const line = (...cells) => console.log(cells.map((cell) => String(cell).padStart(11)).join(""));
line("", "requests", "wall s", "CPU s", "rows/s", "cached", "load");
try {
  const [before, after] = await inputs();
  for (let pair = 0; pair < Number(values.pairs); pair++) {
    const cache = join(folder, `cache-${pair}`);
    const first = night("first", before, cache);
    const planned = plan(after, cache);
    const second = night("second", after, cache);
    if (planned !== second.requests) throw new Error(`${planned} requests were planned`);
    ratios.wall.push(second.perSecond / first.perSecond);
    ratios.processor.push(first.processor / second.processor);
    rmSync(cache, { recursive: true });
  }
  console.log(
    `second night against the first: ${median(ratios.wall)} times the rows/s (median), ${median(ratios.processor)} times by the processor's time`,
  );
} finally {
  server.kill();
  rmSync(folder, { recursive: true, force: true });
}

/** The inputs of the two nights. */
async function inputs() {
  const [file] = positionals;
  if (file !== undefined) return [resolve(file), resolve(file)];
  const [rows, changed] = [Number(values.rows), Number(values.changed) / 100];
  const [first, second] = [join(folder, "first.csv"), join(folder, "second.csv")];
  await writeInput(first, rows);
  const isNew = (n) => Math.floor((n + 1) * changed) > Math.floor(n * changed);
  await writeInput(second, rows, (n) => itemAt(isNew(n) ? rows + n : n));
  return [first, second];
}

/** Runs the program once and prints the resources used. */
function night(name, input, cache) {
  const output = join(folder, "out.csv");
  const args = [
    "enrich",
    input,
    "-o",
    output,
    "--cache",
    cache,
    "--intel-url",
    url,
    "--bogons",
    "ask",
  ];
  // A rate that does not hold the first run back.
  const rest = ["--rate", "1000000/s", "--quiet", ...words.slice(dashes + 1)];
  const { wall, processor } = measured([...args, ...rest]);
  const manifest = JSON.parse(readFileSync(`${output}.manifest.json`, "utf8"));
  const requests = Object.values(manifest.requests).reduce((sum, { total }) => sum + total, 0);
  const perSecond = manifest.output.rows / wall;
  const { cache: cached } = manifest.sources;
  show(name, requests, { wall, processor }, Math.round(perSecond), cached);
  return { requests, perSecond, processor };
}

/** Plans a night, and returns the requests it will make. */
function plan(input, cache) {
  const lookups = words.slice(dashes + 1);
  const args = ["plan", input, "--cache", cache, "--intel-url", url, "--json"];
  const { said, ...used } = measured([...args, ...lookups]);
  const { rows, chosen, cached } = JSON.parse(said);
  const most = Math.max(...Object.values(cached));
  show("plan", chosen.requests, used, Math.round(rows / used.wall), most);
  return chosen.requests;
}

function measured(args) {
  const begun = performance.now();
  const { status, output } = spawnSync(
    process.execPath,
    ["--import", tellsProcessorTime, program, ...args],
    { stdio: ["ignore", "pipe", "pipe", "pipe"], encoding: "utf8" },
  );
  const wall = (performance.now() - begun) / 1000;
  if (status !== 0) throw new Error(output[2]);
  return { wall, processor: Number(output[3]), said: output[1] };
}

function show(name, requests, { wall, processor }, perSecond, cached) {
  const load = loadavg()[0].toFixed(1);
  line(name, requests, wall.toFixed(1), processor.toFixed(1), perSecond, cached, load);
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)].toFixed(1);
}
