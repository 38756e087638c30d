import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { TallySnapshot } from "../../src/pipeline/run/tally.js";
import { simulateNight } from "../helpers/night-simulation.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";

const program = fileURLToPath(new URL("../bench/soak/run.mjs", import.meta.url));

/** A few seconds by default: too short to judge pace and memory, but not the counts. */
const minutes = process.env["REPUTE_SOAK_MINUTES"] ?? "0.15";

test(
  "through every fault and a kill, a night's counts are right and its curves are drawn",
  async () => {
    const to = await temporaryFolder();
    const args = [program, "--minutes", minutes, "--rate", "200", "--to", to];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(stdout).toMatch(/^all counts are right$/m);
    expect(await readFile(join(to, "soak.svg"), "utf8")).toContain("<polyline");
    const lines = (await readFile(join(to, "soak.csv"), "utf8")).trimEnd().split("\n");
    expect(lines.length).toBeGreaterThan(5);
  },
  Number(minutes) * 120_000 + 120_000,
);

test("a whole night in simulated time keeps its pace, its bounds and every row", async () => {
  const path = join(await temporaryFolder(), "in.txt");
  const [rows, perSecond] = [20_000, 2];
  await writeFile(path, Array.from({ length: rows }, (_, n) => `h${n}.example.com\n`).join(""));
  const night = await simulateNight(path, perSecond, 1);
  const { stretches, tally, written, answers, seconds, left } = night;
  expect(written).toEqual(Array.from({ length: rows }, (_, n) => n + 1));
  const { complete, partial, failed } = tally.statuses;
  // Retries get through most faults; what does not is a row with a status.
  expect(complete + partial + failed).toBe(rows);
  expect([partial, failed].map((n) => n < rows / 100)).toEqual([true, true]);
  expect(answers).toBe(2 * rows - missed(tally));
  expect(stretches.reduce((sum, stretch) => sum + stretch.rows, 0)).toBe(rows);
  expect(left).toBe(0);
  expect(seconds).toBeGreaterThan(5 * 3600);
  for (const [at, { phase, most, open }] of stretches.slice(0, -1).entries()) {
    const where = `${at}: ${phase}`;
    expect(open, where).toBeLessThanOrEqual(32);
    expect(most, where).toBeLessThanOrEqual(10 * perSecond + 1);
  }
  const calm = stretches.slice(0, -1).filter(({ phase }) => phase === "calm");
  // A calm stretch begins with what the fault before it left: after an outage, the next probe may be a
  // minute away.
  const least = Math.min(...calm.map(({ requests }) => requests));
  expect(least).toBeGreaterThanOrEqual(0.9 * 600 * perSecond);
  const timers = calm.map((stretch) => stretch.timers);
  expect(Math.max(...timers.slice(1))).toBeLessThanOrEqual(Math.max(64, 2 * timers[0]!));
  expect(await simulateNight(path, perSecond, 1)).toEqual(night);
}, 120_000);

/** Lookups that ended without a full answer. */
function missed({ errors, statuses }: TallySnapshot): number {
  return Object.values(errors).reduce((sum, n) => sum + n, 0) + statuses.partial;
}
