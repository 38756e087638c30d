import { stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startAnsweringServer } from "../../../helpers/answering-server.js";
import {
  damageFile,
  faultOf,
  killedFixture,
  restore,
  resumeHere,
  type KilledFixture,
} from "../../../helpers/damaged-run.js";
import { seeded } from "../../../helpers/seeded.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

/** Multiplies the numbers of damages below: `REPUTE_TEST_DAMAGES=10` for many. */
const factor = Number(process.env["REPUTE_TEST_DAMAGES"] ?? "0.3");

it.each([
  ["out.csv", 50, 100],
  ["out.ndjson", 30, 20],
  ["out.ndjson.gz", 40, 10],
  ["out.parquet", 60, 30],
])(
  "a killed run whose files are damaged has no wrong row and reports damage: %s, %i times its rows, %i times its state",
  { timeout: 600_000 },
  async (output, damages, state) => {
    const [folder, server] = [await temporaryFolder(), await startAnsweringServer()];
    const fixture = await killedFixture({ folder, output, server, rows: 6_500 });
    expect(await resumeHere(fixture)).toMatchObject({ error: null, warnings: [] });
    const [part, ...others] = fixture.files;
    const wrong: string[] = [];
    const rounds = [
      ...times(damages).map(() => part!),
      ...times(state).map((n) => others[n % others.length]!),
    ];
    const random = seeded(output.length * 1_009 + damages);
    for (const name of rounds) {
      const fault = await damaged(fixture, name, random);
      if (fault !== null) wrong.push(`${name}, ${fault}`);
    }
    expect(wrong).toEqual([]);
  },
);

function times(damages: number): readonly number[] {
  return Array.from({ length: Math.ceil(damages * factor) }, (_, n) => n);
}

/**
 * Damages a file of a killed run and resumes it. Says what is wrong with the result, or returns
 * null.
 */
async function damaged(
  fixture: KilledFixture,
  name: string,
  random: () => number,
): Promise<string | null> {
  await restore(fixture);
  const path = join(fixture.folder, name);
  const { size } = await stat(path);
  // A file without content, such as a lock, cannot be damaged.
  if (size === 0) return null;
  const { kind, at } = await damageFile(path, random);
  const resumed = await resumeHere(fixture);
  const fault = await faultOf(fixture, resumed);
  if (fault !== null) return `${kind} at ${at}: ${fault}`;
  const isTold = resumed.error !== null || resumed.warnings.length > 0;
  const isDamage = kind !== "none" && kind !== "append";
  // The latest checkpoint is less than 5,000 of the 6,500 rows behind.
  const mustBeTold = name.endsWith(".part") && at < size / 5;
  return !isTold && isDamage && mustBeTold ? `${kind} at ${at}: is not told` : null;
}
