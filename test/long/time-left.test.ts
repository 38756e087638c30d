import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readingOf } from "../../src/pipeline/run/reading.js";
import { simulateRun } from "../helpers/run-simulation.js";
import { seeded } from "../helpers/seeded.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";
import { complete, failed, partial } from "../unit/lookup/attempts.js";

const runs = 40;

/** The last lookups wait for their retries, which no rate tells: 3 s are always within 15%. */
const leastLeft = 20;

test("the time left is within 15 percent after the first tenth of a run, with 5% partial and 3% unavailable", async () => {
  const path = join(await temporaryFolder(), "in.txt");
  await writeFile(path, Array.from({ length: 7000 }, (_, n) => `host-${n}.example.com\n`).join(""));
  const worst: number[] = [];
  for (let seed = 1; seed <= runs; seed++) {
    const random = seeded(seed);
    const { moments, seconds } = await simulateRun({
      rows: readingOf({ path }, {}),
      perSecond: 100,
      answer: () => {
        const luck = random();
        if (luck < 0.05) return partial({ item: "a.example.com" }, ["intent"]);
        return luck < 0.08 ? failed("http_503", "throttled", null, 503) : complete();
      },
      random,
    });
    const errors = moments
      .filter((moment) => moment.seconds >= seconds / 10)
      .map((moment) => {
        const left = seconds - moment.seconds;
        return Math.abs((moment.secondsLeft ?? 0) - left) / Math.max(left, leastLeft);
      });
    worst.push(Math.max(...errors));
  }
  worst.sort((one, other) => one - other);
  // Nobody can foresee an outage in the last minute of a run.
  expect(worst[Math.floor(runs * 0.95) - 1]).toBeLessThan(0.15);
  expect(worst.at(-1)).toBeLessThan(0.25);
}, 300_000);
