// How well the built program keeps a given rate. Arrivals are recorded at a raw socket server and
// at `repute serve`, each in a separate process.
//
//   npm run build && node test/bench/pace.mjs [RATE…]        default: 50 500 5000 per second
//
// Prints for each: the share of the rate used from the first to the last arrival, the most arrivals
// within any second against rate + 5%, and the share of one processor that the program used.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addressLines } from "./items.mjs";
import { mostWithin, rounded } from "./statistics.mjs";
import { enrich, enrichedRows, serve, startServer } from "./programs.mjs";

const rates = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [50, 500, 5000];
const seconds = 10;

const folder = await mkdtemp(join(tmpdir(), "repute-pace-"));
try {
  for (const rate of rates) {
    for (const [name, start] of [
      ["raw sockets", startServer],
      ["repute serve", serve],
    ]) {
      console.log(JSON.stringify({ server: name, ...(await measure(rate, start)) }));
    }
  }
} finally {
  await rm(folder, { recursive: true });
}

async function measure(rate, start) {
  const rows = rate * seconds;
  await writeFile(join(folder, "in.txt"), addressLines(rows));
  const server = await start(folder);
  const args = ["--lookups", "quick-check", "--rate", `${rate}/s`, "--concurrency", "128"];
  const usage = await enrich(folder, server.url, args).catch((error) => server.abandon(error));
  const { arrivals } = await server.stop();
  if ((await enrichedRows(folder)).complete !== rows) throw new Error("rows are missing");
  const ms = arrivals.at(-1) - arrivals[0];
  return {
    rate,
    used: rounded(((arrivals.length - 1) / ms / rate) * 1000),
    mostInASecond: rounded(mostWithin(arrivals, 1000) / rate),
    cpu: rounded(usage.cpuSeconds / usage.seconds),
    waitedForCpu: rounded(usage.waitedForCpuSeconds / usage.seconds),
    longestTurnMs: Math.round(usage.longestTurnMs),
  };
}
