// What a run with workers takes: needs redis-server, and a processor for each process that it starts or a
// quiet machine. Prints attempts a second, the processor time of each part for an attempt, and the peak
// memory of Redis.
//
//   npm run build && node test/bench/workers.mjs [--workers 2] [--rows 20000]
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { Redis } from "ioredis";
import { repute, reputeProgram } from "./contestants.mjs";
import { withWork } from "./run-measure.mjs";
import { runProgram } from "./run-program.mjs";

const { values } = parseArgs({
  options: {
    workers: { type: "string", default: "2" },
    rows: { type: "string", default: "20000" },
  },
});
const [workers, rows] = [Number(values.workers), Number(values.rows)];
const port = 20_000 + (process.pid % 10_000);
const redisUrl = `redis://127.0.0.1:${port}/0`;
const { signal } = new AbortController();
const children = [];
await withWork({ rows, concurrency: 1024, latencyMs: 20, signal }, async (work) => {
  const quiet = ["--save", "", "--dir", work.folder, "--loglevel", "warning"];
  children.push(spawn("redis-server", ["--port", `${port}`, ...quiet], { stdio: "ignore" }));
  const redis = new Redis(port, "127.0.0.1");
  redis.on("error", () => undefined);
  const memory = async () =>
    Number(/^used_memory:(\d+)/m.exec(await redis.info("memory"))?.[1] ?? 0);
  let peak = await memory();
  const watch = async () => void (peak = Math.max(peak, await memory()));
  const watching = setInterval(() => void watch(), 500);
  try {
    for (let n = 0; n < workers; n++) {
      const to = ["--intel-url", work.url, "--rate", "100000/s", "--concurrency", "128"];
      const child = spawn(process.execPath, [reputeProgram, "worker", redisUrl, ...to], {
        stdio: ["ignore", "ignore", "pipe"],
      });
      children.push(child);
      await once(child.stderr, "data");
    }
    const cpu = () => Promise.all(children.map(({ pid }) => cpuSeconds(pid)));
    const before = await cpu();
    const { command } = repute({ ...work, endpoints: ["quick-check"] });
    const asked = command.filter((flag) => !/^--(?:rate|concurrency)=/.test(flag));
    const run = await runProgram([...asked, "--workers", redisUrl], { ...work, peak: false });
    const after = await cpu();
    await watch();
    const micros = (seconds) => Math.round((seconds / rows) * 1e6);
    const [ofRedis, ...ofWorkers] = after.map((seconds, n) => seconds - before[n]);
    console.log({
      attemptsPerSecond: Math.round(rows / run.seconds),
      microsecondsEach: {
        run: micros(run.cpuSeconds),
        workers: micros(ofWorkers.reduce((sum, seconds) => sum + seconds, 0)),
        redis: micros(ofRedis),
      },
      redisMegabytes: Math.round(peak / 1e6),
    });
  } finally {
    clearInterval(watching);
    redis.disconnect();
    for (const child of children) child.kill("SIGKILL");
  }
});

/** User and system time of a process so far (proc(5), 100 ticks a second). */
async function cpuSeconds(pid) {
  const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
