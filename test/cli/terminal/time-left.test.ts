import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readingOf } from "../../../src/jobs/enrich/rows/reading.js";
import { simulateRun } from "../../helpers/run-simulation.js";
import { seeded } from "../../helpers/seeded.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import { timeLeftErrors, unreliable } from "../../helpers/time-left.js";

/** Rows that need requests, in clusters between rows that need none. */
function clusteredRows(random: () => number): readonly string[] {
  const rows: string[] = [];
  let distinct = 0;
  while (distinct < 2000) {
    const cluster = 100 + Math.floor(random() * 400);
    const kind = Math.floor(random() * 4);
    for (let n = 0; n < cluster; n++) {
      if (kind === 0) rows.push(`f${"0".repeat(63)}`);
      else if (kind === 1) rows.push("duplicate.example.com");
      else if (kind === 2) rows.push(`10.0.${n % 250}.${cluster % 250}`);
      else rows.push(`host-${distinct++}.example.com`);
    }
  }
  return rows;
}

test.each([
  [1, "transient"],
  [2, "transient"],
  [3, "throttled"],
] as const)(
  "the time left is within 15 percent of the truth after the first tenth of a run (seed %i, %s faults)",
  async (seed, policy) => {
    const random = seeded(seed);
    const path = join(await temporaryFolder(), "in.csv");
    await writeFile(path, `item\n${clusteredRows(random).join("\n")}\n`);
    const answer = unreliable(random, policy);
    const run = await simulateRun({
      rows: readingOf({ path }, {}),
      perSecond: 100,
      answer,
      random,
    });
    expect(run.seconds).toBeGreaterThan(40);
    expect(Math.max(...timeLeftErrors(run))).toBeLessThan(0.15);
  },
);
