import { stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startAnsweringServer } from "../../../helpers/answering-server.js";
import {
  damageFile,
  faultOf,
  killedFixture,
  programArgs,
  restore,
  resumeHere,
  type KilledFixture,
} from "../../../helpers/damaged-run.js";
import { runRepute } from "../../../helpers/run-repute.js";
import { seeded } from "../../../helpers/seeded.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

/** Multiplies the numbers of damages below: `REPUTE_TEST_DAMAGES=10` for many. */
const factor = Number(process.env["REPUTE_TEST_DAMAGES"] ?? "0.3");

/** Outputs, rows before the kill, and how often their rows and the files of their state are damaged. */
const forms: readonly (readonly [output: string, rows: number, damages: number, state: number])[] =
  [
    ["out.csv", 6_500, 50, 100],
    ["out.ndjson", 6_500, 30, 20],
    ["out.ndjson.gz", 6_500, 40, 10],
    ["out.parquet", 6_500, 60, 30],
  ];

describe("a killed run whose files are damaged", () => {
  it.each(forms)(
    "has no wrong row and reports damage: %s",
    { timeout: 600_000 },
    async (output, rows, damages, state) => {
      const fixture = await fixtureOf(output, rows);
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

  it("reports damage in the program as well", { timeout: 600_000 }, async () => {
    const [output, rows] = forms[0]!;
    const fixture = await fixtureOf(output, rows);
    const random = seeded(7);
    const wrong: string[] = [];
    for (const name of fixture.files) {
      await restore(fixture);
      const { kind, at } = await damageFile(join(fixture.folder, name), random);
      const { code, stderr } = await runRepute([...programArgs(fixture), "--resume"]);
      const isExplained = /repute-test-.*\n.*--(?:restart|resume)/.test(stderr);
      const isRight = code === 0 || ((code === 1 || code === 2) && isExplained);
      if (!isRight || stderr.includes("unexpected error")) {
        wrong.push(`${name}, ${kind} at ${at}, ended with ${code}: ${stderr}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});

function times(damages: number): readonly number[] {
  return Array.from({ length: Math.ceil(damages * factor) }, (_, n) => n);
}

async function fixtureOf(output: string, rows: number): Promise<KilledFixture> {
  const server = await startAnsweringServer();
  return killedFixture({ folder: await temporaryFolder(), output, server, rows });
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
