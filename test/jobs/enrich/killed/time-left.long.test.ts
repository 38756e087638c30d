import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readingOf } from "../../../../src/jobs/enrich/rows/reading.js";
import {
  type MeteredRun,
  type RunSimulation,
  simulateRun,
} from "../../../helpers/run-simulation.js";
import { seeded } from "../../../helpers/seeded.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { limitedTo, timeLeftErrors, unreliable } from "../../../helpers/time-left.js";

/** A run of up to 100 requests a second, two for each host. */
async function runOver(
  hosts: number,
  service: Pick<RunSimulation, "answer" | "random">,
): Promise<MeteredRun> {
  const path = join(await temporaryFolder(), "in.txt");
  const lines = Array.from({ length: hosts }, (_, n) => `host-${n}.example.com\n`);
  await writeFile(path, lines.join(""));
  return simulateRun({ rows: readingOf({ path }, {}), perSecond: 100, ...service });
}

test.each([101, 102, 103])(
  "the time left is within 15 percent after the first tenth of a run in which 1 of 20 answers is partial and 1 of 33 missing (seed %i)",
  async (seed) => {
    const random = seeded(seed);
    const run = await runOver(7000, { answer: unreliable(random), random });
    expect(Math.max(...timeLeftErrors(run))).toBeLessThan(0.15);
  },
);

test.each([20, 60])(
  "the time left is within 15 percent once a limit of %i a second is found that the service does not name",
  async (limit) => {
    const run = await runOver(70 * limit, { answer: limitedTo(limit), random: seeded(101) });
    expect(Math.max(...timeLeftErrors(run, 35))).toBeLessThan(0.15);
  },
);
