import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { simulateNight } from "../../../helpers/night-simulation.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

const program = fileURLToPath(new URL("../../../bench/soak/run.mjs", import.meta.url));

/** A few seconds by default: too short to judge pace and memory, but not the counts. */
const minutes = process.env["REPUTE_SOAK_MINUTES"] ?? "0.15";

test(
  "through every fault and a kill, a night's counts are right",
  async () => {
    const to = await temporaryFolder();
    const args = [program, "--minutes", minutes, "--rate", "200", "--to", to];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(stdout).toMatch(/^all counts are right$/m);
    const lines = (await readFile(join(to, "soak.csv"), "utf8")).trimEnd().split("\n");
    expect(lines.length).toBeGreaterThan(5);
  },
  Number(minutes) * 120_000 + 120_000,
);

test("a whole night in simulated time keeps its pace, its bounds and every row", async () => {
  const path = join(await temporaryFolder(), "in.txt");
  const [rows, perSecond] = [11_000, 1];
  await writeFile(path, Array.from({ length: rows }, (_, n) => `h${n}.example.com\n`).join(""));
  const night = await simulateNight(path, perSecond, 1);
  const { stretches, tally, written, answers, seconds, left } = night;
  expect(written).toEqual(Array.from({ length: rows }, (_, n) => n + 1));
  const { complete, partial, failed } = tally.statuses;
  // Retries get through most faults; what does not is a row with a status.
  expect(complete + partial + failed).toBe(rows);
  expect([partial, failed].map((n) => n < rows / 100)).toEqual([true, true]);
  const requests = Object.values(tally.requests);
  expect(sum(requests.map(({ outcomes }) => outcomes["200"] ?? 0))).toBe(answers);
  expect(sum(requests.map(({ total }) => total))).toBe(sum(stretches.map((each) => each.requests)));
  expect(answers).toBeGreaterThanOrEqual(2 * (rows - partial - failed));
  expect(sum(stretches.map((stretch) => stretch.rows))).toBe(rows);
  expect(left).toBe(0);
  expect(seconds).toBeGreaterThan(6 * 3600);
  for (const [at, { phase, most, open }] of stretches.slice(0, -1).entries()) {
    const where = `${at}: ${phase}`;
    expect(open, where).toBeLessThanOrEqual(32);
    expect(most, where).toBeLessThanOrEqual(10 * perSecond + 1);
  }
  const calm = stretches.slice(0, -1).filter(({ phase }) => phase === "calm");
  // A calm stretch begins with what the fault before it left: after an outage, the next probe may be a
  // minute away.
  const least = Math.min(...calm.map(({ requests }) => requests));
  expect(least).toBeGreaterThanOrEqual(0.9 * 1500 * perSecond);
  const timers = calm.map((stretch) => stretch.timers);
  expect(Math.max(...timers.slice(1))).toBeLessThanOrEqual(Math.max(64, 2 * timers[0]!));
  expect(await simulateNight(path, perSecond, 1)).toEqual(night);
}, 120_000);

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
