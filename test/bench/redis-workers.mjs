// @ts-check
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { Redis } from "ioredis";
import { reputeProgram } from "./contestants.mjs";

/**
 * Redis and workers, each a process of its own.
 *
 * @typedef {object} Started
 * @property {string} redisUrl
 * @property {Redis} redis
 * @property {() => Promise<number[]>} cpuSeconds user and system time so far, that of Redis first
 */

/**
 * Starts Redis and workers, and ends them in any case.
 *
 * @template T
 * @param {{ count: number, rate: string, url: string, folder: string }} settings
 * @param {(started: Started) => Promise<T>} use
 * @returns {Promise<T>}
 */
export async function withWorkers({ count, rate, url, folder }, use) {
  const port = 20_000 + (process.pid % 10_000);
  const redisUrl = `redis://127.0.0.1:${port}/0`;
  const quiet = ["--save", "", "--dir", folder, "--loglevel", "warning"];
  const children = [spawn("redis-server", ["--port", `${port}`, ...quiet], { stdio: "ignore" })];
  const redis = new Redis(port, "127.0.0.1");
  redis.on("error", () => undefined);
  try {
    await redis.ping();
    for (let n = 0; n < count; n++) {
      const to = ["--intel-url", url, "--rate", rate, "--concurrency", "128"];
      const worker = spawn(process.execPath, [reputeProgram, "worker", redisUrl, ...to], {
        stdio: ["ignore", "ignore", "pipe"],
      });
      children.push(worker);
      await once(worker.stderr, "data");
    }
    const cpuSeconds = () => Promise.all(children.map(({ pid = 0 }) => cpuSecondsOf(pid)));
    return await use({ redisUrl, redis, cpuSeconds });
  } finally {
    redis.disconnect();
    for (const child of children) child.kill("SIGKILL");
  }
}

/**
 * User and system time of a process so far (proc(5), 100 ticks a second).
 *
 * @param {number} pid
 */
async function cpuSecondsOf(pid) {
  const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
