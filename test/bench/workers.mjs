// What a run with workers takes: needs redis-server, and a processor for each process that it starts or a
// quiet machine. Prints attempts a second, the processor time of each part for an attempt, and the peak
// memory of Redis.
//
//   npm run build && node test/bench/workers.mjs [--workers 2] [--rows 20000]
import { parseArgs } from "node:util";
import { repute } from "./contestants.mjs";
import { withWorkers } from "./redis-workers.mjs";
import { withWork } from "./run-measure.mjs";
import { runProgram } from "./run-program.mjs";

const { values } = parseArgs({
  options: {
    workers: { type: "string", default: "2" },
    rows: { type: "string", default: "20000" },
  },
});
const [count, rows] = [Number(values.workers), Number(values.rows)];
const { signal } = new AbortController();
await withWork({ rows, concurrency: 1024, latencyMs: 20, signal }, async (work) => {
  const started = { count, rate: "100000/s", url: work.url, folder: work.folder };
  await withWorkers(started, async ({ redisUrl, redis, cpuSeconds }) => {
    const memory = async () =>
      Number(/^used_memory:(\d+)/m.exec(await redis.info("memory"))?.[1] ?? 0);
    let peak = await memory();
    const watch = async () => void (peak = Math.max(peak, await memory()));
    const watching = setInterval(() => void watch(), 500);
    const before = await cpuSeconds();
    const pace = ["--workers", redisUrl];
    const { command } = repute({ ...work, endpoints: ["quick-check"] }, { pace });
    const run = await runProgram(command, { ...work, peak: false });
    const after = await cpuSeconds();
    clearInterval(watching);
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
  });
});
