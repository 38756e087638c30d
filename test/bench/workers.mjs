// What runs with workers do: needs redis-server and a processor for each process that it starts, or
// a quiet machine.
//
//   npm run build && node test/bench/workers.mjs [speed] [rates] [limits] [memory]
//
// speed: attempts a second with one to three workers, and the processor time of each part.
// rates: the most arrivals in any second and the share of the rate that is used.
// limits: the same where the service has half of the rate as its limit, with Retry-After and without.
// memory: peak memory of Redis at 1,000,000 rows.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Redis } from "ioredis";
import { reputeProgram } from "./contestants.mjs";
import { measuredRun } from "./programs.mjs";
import { resourcesOf } from "./soak/process-facts.mjs";
import { mostWithin, rounded } from "./statistics.mjs";

// RATES=100,300 and SECONDS=15 shorten a trial.
const rates = (process.env.RATES ?? "100,300,1000").split(",").map(Number);
const seconds = Number(process.env.SECONDS ?? 20);
const unbound = { rate: 100_000, rows: 20_000 };
const cases = {
  speed: [1, 2, 3].map((workers) => ({ ...unbound, workers })),
  rates: rates.map((rate) => ({ rate, rows: rate * seconds })),
  limits: rates.flatMap((limit) =>
    [["--header", "retry-after: 1"], []].map((header) => {
      const burst = String(Math.max(15, limit / 10));
      const server = ["--limit", String(limit), "--burst", burst, ...header];
      return { rate: 2 * limit, rows: limit * 40, server, limit };
    }),
  ),
  memory: [{ ...unbound, rows: 1_000_000 }],
};
const names = process.argv.length > 2 ? process.argv.slice(2) : ["speed", "rates", "limits"];
for (const name of names) {
  for (const each of cases[name]) console.log(JSON.stringify({ [name]: await measured(each) }));
}

/** One run with a Redis and workers of its own. */
async function measured({ workers = 2, rate, rows, server = [], limit = null }) {
  const children = [];
  let [redis, before, mostMemory] = [null, null, 0];
  const cpu = () =>
    Promise.all(children.map(async ({ pid }) => (await resourcesOf(pid)).cpuSeconds));
  const around = async (folder, intelUrl) => {
    const socket = `${folder}/redis.sock`;
    const port = 20_000 + (process.pid % 10_000);
    const url = `redis://127.0.0.1:${port}/0`;
    const where = ["--port", String(port), "--unixsocket", socket, "--dir", folder];
    const quiet = ["--save", "", "--loglevel", "warning"];
    children.push(spawn("redis-server", [...where, ...quiet], { stdio: "ignore" }));
    redis = new Redis(socket);
    redis.on("error", () => undefined);
    await redis.ping();
    const args = ["worker", url, "--intel-url", intelUrl, "--rate", `${rate}/s`];
    for (let n = 0; n < workers; n++) {
      const child = spawn(process.execPath, [reputeProgram, ...args, "--concurrency", "128"], {
        stdio: ["ignore", "ignore", "pipe"],
      });
      children.push(child);
      await once(child.stderr, "data");
    }
    before = await cpu();
    return ["--workers", url];
  };
  const look = async () => {
    const used = /^used_memory:(\d+)/m.exec((await redis?.info("memory")) ?? "");
    mostMemory = Math.max(mostMemory, Number(used?.[1] ?? 0));
  };
  const looking = setInterval(() => void look(), 500);
  try {
    const run = { rows, args: [], server: ["--latency", "20", ...server], around };
    const { arrivals, passed, usage, statuses } = await measuredRun(run);
    const after = await cpu();
    const each = (at) => Math.round(((after[at] - before[at]) / arrivals.length) * 1e6);
    const perSecond = (arrivals.length * 1000) / (arrivals.at(-1) - arrivals[0]);
    const inMiddle = arrivals.filter(
      (at, n) => passed[n] && at >= 5000 && at < arrivals.at(-1) - 2000,
    );
    const middle = (arrivals.at(-1) - 7000) / 1000;
    return {
      workers,
      rate,
      attempts: arrivals.length,
      perSecond: Math.round(perSecond),
      used: rounded(limit === null ? perSecond / rate : inMiddle.length / middle / limit),
      mostInASecond: rounded(mostWithin(arrivals, 1000) / rate),
      throttled: rounded(passed.filter((ok) => !ok).length / passed.length),
      statuses,
      cpuMicroseconds: {
        redis: each(0),
        workers: children.slice(1).reduce((sum, _, n) => sum + each(n + 1), 0),
        run: Math.round((usage.cpuSeconds / arrivals.length) * 1e6),
      },
      redisMB: Math.round(mostMemory / 1e6),
    };
  } finally {
    clearInterval(looking);
    redis?.disconnect();
    for (const child of children) child.kill("SIGKILL");
  }
}
