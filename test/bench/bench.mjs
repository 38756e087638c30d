// Measures the program against named baselines, in alternating runs. See `npm run bench -- --help`.
import { cpus, loadavg, totalmem } from "node:os";
import { parseArgs } from "node:util";
import { measures } from "./measures.mjs";
import { cpuByPart } from "./profile.mjs";
import { ratioTable, writePage } from "./report.mjs";
import { defaultRows, runMeasure } from "./run-measure.mjs";

const names = Object.keys(measures);
const rowsByDefault = [
  String(defaultRows),
  ...Object.entries(measures).flatMap(([name, { rows }]) => (rows ? [`${name} ${rows}`] : [])),
].join("; ");
const help = `npm run bench -- [NAME...] [--repeat N] [--rows N] [--long] [--page FILE]

Names, all but memory when none is given:
${Object.entries(measures)
  .map(([name, { title }]) => `  ${name.padEnd(12)}${title}\n`)
  .join("")}
  --repeat N   rounds of each measure; the median counts (3)
  --concurrency N
               requests open at once, of repute and of its baselines (32; latency 256)
  --rows N     rows of the input (${rowsByDefault})
  --long       memory too, which takes minutes
  --page FILE  put the figures, and where the processor's time goes, between the marks of a page
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    repeat: { type: "string", default: "3" },
    rows: { type: "string" },
    concurrency: { type: "string", default: "32" },
    long: { type: "boolean", default: false },
    page: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
const interruption = new AbortController();
const { signal } = interruption;
for (const name of ["SIGINT", "SIGTERM"]) process.once(name, () => interruption.abort(name));
const [processor] = cpus();
const machine = [
  new Date().toISOString().slice(0, 10),
  `${cpus().length} × ${processor?.model ?? "processor"}`,
  `${Math.round(totalmem() / 2 ** 30)} GiB`,
  `Node.js ${process.version}`,
  `${values.concurrency} requests open where not said otherwise`,
  `load ${loadavg()[0]?.toFixed(1)} when it began`,
].join(", ");

try {
  if (values.help) console.log(help);
  else await bench(positionals);
} catch (error) {
  progress("");
  console.error(signal.aborted ? `ended by ${signal.reason}` : error.message);
  process.exitCode = 1;
}

async function bench(asked) {
  for (const name of asked) if (!names.includes(name)) refuse(`there is no measure ${name}`);
  const chosen =
    asked.length > 0 ? asked : names.filter((name) => values.long || !measures[name]?.long);
  const repeat = count("repeat", values.repeat);
  const concurrency = count("concurrency", values.concurrency);
  const rows = values.rows === undefined ? null : count("rows", values.rows);
  const results = [];
  try {
    for (const name of chosen) {
      const onRun = (text) => progress(`${name}: ${text}`);
      const settings = { repeat, concurrency, rows, signal, onRun };
      results.push(await runMeasure(measures[name], settings));
    }
  } finally {
    // Also after an interruption, since measuring took time.
    progress("");
    if (results.length > 0) console.log(measured(results));
  }
  if (values.page === undefined) return;
  progress("profile");
  const micros = await cpuByPart({ rows: rows ?? defaultRows, concurrency, signal });
  progress("");
  await writePage(values.page, measured(results), micros);
}

function measured(results) {
  return `${machine}. Medians (least–most) of the rounds.\n\n${ratioTable(results)}`;
}

function count(name, text) {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) refuse(`--${name} must be a whole number from 1 on`);
  return value;
}

function refuse(message) {
  console.error(`${message}\n\n${help}`);
  process.exit(2);
}

/** Shows the current run on a terminal, in a line that is erased afterwards. */
function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
}
