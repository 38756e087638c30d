// How rates are kept and unknown limits are found, in real time: what arrives at a server in a process of
// its own, with a token bucket of a number of seconds (0 for a single request) where it has a limit.
//
//   npm run build && node test/bench/throttling.mjs [--given] [--workers N] [--rates 20,50,150,300,1000]
//   [--buckets 0,0.1,1] [--noise 0,0.03] [--retry-after SECONDS] [--seconds 40] [--told SHARE]
//
// With --given the program knows the rate and the server has no limit; without it the program may send ten
// times the limit. Prints the share of the rate that was used (from second 10 on; with --given, in all), the
// share that was throttled, in all and in that time (noise included), and the most arrivals in a second as a
// multiple of the rate. Without a bucket, a busy machine is what limits: a request that the server reads late
// makes the next one early. With --told, a program that knows the limit and sends this share of it, evenly,
// shows what the machine allows. --workers needs redis-server.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { repute } from "./contestants.mjs";
import { startInstantService } from "./instant-service.mjs";
import { writeInput } from "./items.mjs";
import { withWorkers } from "./redis-workers.mjs";
import { runProgram } from "./run-program.mjs";

const { values } = parseArgs({
  options: {
    given: { type: "boolean", default: false },
    workers: { type: "string", default: "0" },
    rates: { type: "string", default: "20,50,150,300,1000" },
    buckets: { type: "string", default: "0,0.1,1" },
    noise: { type: "string", default: "0,0.03" },
    "retry-after": { type: "string" },
    seconds: { type: "string", default: "40" },
    told: { type: "string" },
  },
});
const paced = fileURLToPath(new URL("peers/paced.mjs", import.meta.url));
const numbers = (text) => text.split(",").map(Number);
const [workers, seconds] = [Number(values.workers), Number(values.seconds)];
/** Until this second, a limit is searched. */
const searchedUntil = values.given ? 0 : 10;
const findings = [];
for (const rate of numbers(values.rates)) {
  const limits = values.given
    ? [[1, 0]]
    : numbers(values.buckets).flatMap((bucket) =>
        numbers(values.noise).map((noise) => [bucket, noise]),
      );
  for (const [bucket, noise] of limits) {
    const found = await measure(rate, bucket, noise);
    findings.push({ rate, bucket, noise, ...found });
    if (process.stderr.isTTY) process.stderr.write(".");
  }
}
console.table(findings);

async function measure(rate, bucket, noise) {
  const limit = ["--limit", rate, "--bucket", Math.max(1, rate * bucket), "--noise", noise];
  const wait = values["retry-after"] === undefined ? [] : ["--retry-after", values["retry-after"]];
  const flags = [...(values.given ? [] : limit.map(String)), ...wait];
  const found = await arrivalsOf(flags, async ({ url, folder }) => {
    const [input, rows] = [join(folder, "input.csv"), rate * seconds];
    await writeInput(input, rows);
    const asked = { url, folder, input, rows, concurrency: 128, endpoints: ["quick-check"] };
    const sent = `${values.given ? rate : 10 * rate}/s`;
    const run = (...pace) => runProgram(repute(asked, { pace }).command, { folder, peak: false });
    if (workers === 0) await run("--rate", sent, "--concurrency", "128");
    else {
      await withWorkers({ count: workers, rate: sent, url, folder }, ({ redisUrl }) =>
        run("--workers", redisUrl),
      );
    }
  });
  if (values.told === undefined) return figures(found, rate);
  const told = await arrivalsOf(flags, async ({ url, folder }) => {
    const command = ["node", paced, url, String(Number(values.told) * rate), String(seconds)];
    await runProgram(command, { folder, peak: false });
  });
  const { used, throttledLater } = figures(told, rate);
  return { ...figures(found, rate), toldUsed: used, toldThrottled: throttledLater };
}

/** When requests arrived at a server with these flags while something ran. */
async function arrivalsOf(flags, run) {
  const folder = await mkdtemp(join(tmpdir(), "repute-throttling-"));
  const record = join(folder, "arrivals");
  const service = await startInstantService(20, ["--record", record, ...flags]);
  try {
    await run({ url: service.url, folder });
    await service.stop();
    return JSON.parse(await readFile(record, "utf8"));
  } finally {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** @param {readonly number[]} arrivals milliseconds, negative for requests that were throttled */
function figures(arrivals, rate) {
  const times = arrivals.map((at) => Math.abs(at));
  const from = times[0] + 1000 * searchedUntil;
  // In the last second, only rows that await a retry are left.
  const to = times.at(-1) - (values.given ? 0 : 1000);
  const accepted = arrivals.filter((at) => at >= from && at <= to).length;
  const late = arrivals.filter((at) => Math.abs(at) >= from);
  let [most, first] = [0, 0];
  for (const [last, at] of times.entries()) {
    while (at - times[first] >= 1000) first++;
    most = Math.max(most, last - first + 1);
  }
  const rounded = (value) => Math.round(1000 * value) / 1000;
  const throttledOf = (some) => rounded(some.filter((at) => at < 0).length / some.length);
  return {
    used: rounded(accepted / ((to - from) / 1000) / rate),
    throttled: throttledOf(arrivals),
    throttledLater: throttledOf(late),
    worstSecond: rounded(most / rate),
  };
}
