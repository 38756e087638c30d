// What runs with workers do: needs redis-server and a processor for each process that it starts, or
// a quiet machine.
//
//   npm run build && node test/bench/workers.mjs [speed] [rates] [limits] [memory]
//
// speed: attempts a second with two workers, and the processor time of each part for an attempt.
// rates: the most arrivals in any second and the share of the rate that is used.
// limits: the same where the service has half of the rate as its limit, with Retry-After and without.
// memory: peak memory of Redis at 1,000,000 rows.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import { addressLines } from "./items.mjs";
import { enrich, enrichedRows, startServer } from "./programs.mjs";
import { mostWithin, rounded } from "./statistics.mjs";

const main = fileURLToPath(new URL("../../dist/program/repute.js", import.meta.url));
// RATES=100,300 and SECONDS=15 shorten a trial.
const rateList = (process.env.RATES ?? "100,300,1000").split(",").map(Number);
const seconds = Number(process.env.SECONDS ?? 20);
const names = process.argv.length > 2 ? process.argv.slice(2) : ["speed", "rates", "limits"];
const all = { speed, rates, limits, memory };
for (const name of names) await all[name]();

async function speed() {
  for (const workers of [1, 2, 3]) {
    console.log(
      JSON.stringify({ speed: await measured({ workers, rate: 100_000, rows: 20_000 }) }),
    );
  }
}

async function rates() {
  for (const rate of rateList) {
    const found = await measured({ workers: 2, rate, rows: rate * seconds });
    console.log(JSON.stringify({ rate, ...found }));
  }
}

async function limits() {
  for (const limit of rateList) {
    for (const header of [["--header", "retry-after: 1"], []]) {
      const server = [
        "--limit",
        String(limit),
        "--burst",
        String(Math.max(15, limit / 10)),
        ...header,
      ];
      const options = { workers: 2, rate: 2 * limit, rows: limit * 40, server, limit };
      const found = await measured(options);
      console.log(JSON.stringify({ limit, retryAfter: header.length > 0, ...found }));
    }
  }
}

async function memory() {
  console.log(
    JSON.stringify({ memory: await measured({ workers: 2, rate: 100_000, rows: 1_000_000 }) }),
  );
}

/** One run in a folder of its own, with a Redis and workers of its own. */
async function measured({ workers, rate, rows, server: serverArgs = [], limit = null }) {
  const folder = await mkdtemp(join(tmpdir(), "repute-workers-"));
  const port = await freePort();
  const quiet = ["--save", "", "--dir", folder, "--loglevel", "warning"];
  const redis = spawn("redis-server", ["--port", String(port), ...quiet], { stdio: "ignore" });
  const server = await startServer(folder, ["--latency", "20", ...serverArgs]);
  const url = `redis://127.0.0.1:${port}/0`;
  const client = new Redis(port, "127.0.0.1");
  client.on("error", () => undefined);
  const children = [];
  try {
    await client.ping();
    for (let n = 0; n < workers; n++) {
      const args = ["worker", url, "--intel-url", server.url, "--rate", `${rate}/s`];
      const concurrency = ["--concurrency", "128"];
      const child = spawn(process.execPath, [main, ...args, ...concurrency], {
        stdio: ["ignore", "ignore", "pipe"],
      });
      children.push(child);
      await once(child.stderr, "data");
    }
    await writeFile(join(folder, "in.txt"), addressLines(rows));
    const peak = watchMemory(client);
    const cpu = async () => Promise.all([redis, ...children].map(({ pid }) => cpuSeconds(pid)));
    const before = await cpu();
    const usage = await enrich(folder, server.url, ["--lookups", "quick-check", "--workers", url]);
    const after = await cpu();
    const memoryMB = Math.round((await peak.stop()) / 1e6);
    const { arrivals, passed } = await server.stop();
    const statuses = await enrichedRows(folder);
    const seconds = (arrivals.at(-1) - arrivals[0]) / 1000;
    const each = ([at]) => Math.round(((after[at] - before[at]) / arrivals.length) * 1e6);
    const inMiddle = arrivals.filter(
      (at, n) => passed[n] && at >= 5000 && at < arrivals.at(-1) - 2000,
    );
    const middle = (arrivals.at(-1) - 7000) / 1000;
    return {
      workers,
      attempts: arrivals.length,
      perSecond: Math.round(arrivals.length / seconds),
      used:
        limit === null
          ? rounded(arrivals.length / seconds / rate)
          : rounded(inMiddle.length / middle / limit),
      mostInASecond: rounded(mostWithin(arrivals, 1000) / rate),
      throttled: rounded(passed.filter((ok) => !ok).length / passed.length),
      statuses,
      cpuMicroseconds: {
        redis: each([0]),
        workers: children.reduce((sum, _, n) => sum + each([n + 1]), 0),
        run: Math.round((usage.cpuSeconds / arrivals.length) * 1e6),
      },
      redisMB: memoryMB,
    };
  } finally {
    client.disconnect();
    for (const child of [redis, ...children]) child.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  }
}

function watchMemory(client) {
  let most = 0;
  const look = async () => {
    const info = await client.info("memory");
    most = Math.max(most, Number(/^used_memory:(\d+)/m.exec(info)[1]));
  };
  const timer = setInterval(() => void look(), 500);
  return {
    async stop() {
      clearInterval(timer);
      await look();
      return most;
    },
  };
}

/** User and system time of a process so far, in seconds (proc(5), 100 ticks a second). */
async function cpuSeconds(pid) {
  const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
