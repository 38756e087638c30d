// Two nightly runs over the same file with a cache: how many requests the second one makes, and how
// much faster it is. The service answers at once, so the ratio is the minimum that users see. Needs
// a build.
//
//   node test/bench/second-night.mjs FILE [PAIRS] [-- FLAGS OF ENRICH]
//
// Users wait for wall-clock time; CPU time depends less on other load of the machine.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const words = process.argv.slice(2);
const dashes = words.includes("--") ? words.indexOf("--") : words.length;
const [file, pairs = "3"] = words.slice(0, dashes);
if (file === undefined) throw new Error("which file? node test/bench/second-night.mjs FILE");

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
line("night", "requests", "wall s", "CPU s", "rows/s", "cached");
try {
  for (let pair = 0; pair < Number(pairs); pair++) {
    const cache = join(folder, `cache-${pair}`);
    const [first, second] = [night("first", cache), night("second", cache)];
    ratios.wall.push(first.wall / second.wall);
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

/** Runs the program once and prints the resources used. */
function night(name, cache) {
  const output = join(folder, "out.csv");
  const args = ["enrich", resolve(file), "-o", output, "--cache", cache, "--intel-url", url];
  // A rate that does not hold the first run back.
  const rest = ["--rate", "1000000/s", "--quiet", ...words.slice(dashes + 1)];
  const begun = performance.now();
  const { status, output: said } = spawnSync(
    process.execPath,
    ["--import", tellsProcessorTime, program, ...args, ...rest],
    { stdio: ["ignore", "ignore", "pipe", "pipe"], encoding: "utf8" },
  );
  const wall = (performance.now() - begun) / 1000;
  if (status !== 0) throw new Error(said[2]);
  const manifest = JSON.parse(readFileSync(`${output}.manifest.json`, "utf8"));
  const requests = Object.values(manifest.requests).reduce((sum, { total }) => sum + total, 0);
  const processor = Number(said[3]);
  const rows = manifest.output.rows;
  const speed = Math.round(rows / wall);
  line(name, requests, wall.toFixed(1), processor.toFixed(1), speed, manifest.sources.cache);
  return { wall, processor };
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)].toFixed(1);
}
