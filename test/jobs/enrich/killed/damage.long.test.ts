import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
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
const times = Number(process.env["REPUTE_TEST_DAMAGES"] ?? "0.3");

/** Which files are damaged, how often, and how many of their first bytes a checkpoint relies on. */
interface DamagedFile {
  readonly name: string;
  readonly damages: number;
  /** Whether damage at this place must be reported, by an error or a warning. */
  readonly mustBeTold: (at: number, fixture: KilledFixture) => boolean;
}

const never = (): boolean => false;
const always = (): boolean => true;

const checkpointFile = (output: string, damages: number): DamagedFile => ({
  name: `${output}.state/checkpoint.json`,
  damages,
  mustBeTold: always,
});

/** @param name of the staged rows */
const part = (output: string, damages: number, name = `${output}.part`): DamagedFile => ({
  name,
  damages,
  mustBeTold: (at, { checkpoint }) => at < checkpoint.sink.length,
});

const journal = (output: string, damages: number): DamagedFile => ({
  name: `${output}.state/journal/records`,
  damages,
  // Some bytes between two records carry no data.
  mustBeTold: never,
});

const forms: readonly (readonly [output: string, rows: number, files: readonly DamagedFile[]])[] = [
  ["out.csv", 6_500, [part("out.csv", 50), checkpointFile("out.csv", 70), journal("out.csv", 30)]],
  ["out.ndjson", 6_500, [part("out.ndjson", 30), checkpointFile("out.ndjson", 20)]],
  ["out.ndjson.gz", 6_500, [part("out.ndjson.gz", 40), journal("out.ndjson.gz", 10)]],
  [
    "out.parquet",
    6_500,
    [
      part("out.parquet", 60, "out.parquet.state/rows.part"),
      checkpointFile("out.parquet", 15),
      journal("out.parquet", 15),
    ],
  ],
];

describe("a killed run whose files are damaged", () => {
  it.each(forms)(
    "has no wrong row and reports damage: %s",
    { timeout: 600_000 },
    async (output, rows, files) => {
      const fixture = await fixtureOf(output, rows);
      expect(await resumeHere(fixture)).toMatchObject({ error: null, warnings: [] });
      const wrong: string[] = [];
      for (const file of files) {
        const random = seeded(file.name.length * 1_009 + file.damages);
        for (let n = 0; n < file.damages * times; n++) {
          const fault = await damaged(fixture, file, random);
          if (fault !== null) wrong.push(`${file.name}, ${fault}`);
        }
      }
      expect(wrong).toEqual([]);
    },
  );

  it("reports damage in the program as well", { timeout: 600_000 }, async () => {
    const [output, rows, files] = forms[0]!;
    const fixture = await fixtureOf(output, rows);
    const random = seeded(7);
    const wrong: string[] = [];
    for (const { name } of files) {
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

async function fixtureOf(output: string, rows: number): Promise<KilledFixture> {
  const server = await startAnsweringServer();
  onTestFinished(() => server.close());
  return killedFixture({ folder: await temporaryFolder(), output, server, rows });
}

/**
 * Damages a file of a killed run and resumes it. Says what is wrong with the result, or returns
 * null.
 */
async function damaged(
  fixture: KilledFixture,
  { name, mustBeTold }: DamagedFile,
  random: () => number,
): Promise<string | null> {
  await restore(fixture);
  const { kind, at } = await damageFile(join(fixture.folder, name), random);
  const resumed = await resumeHere(fixture);
  const fault = await faultOf(fixture, resumed);
  if (fault !== null) return `${kind} at ${at}: ${fault}`;
  const isTold = resumed.error !== null || resumed.warnings.length > 0;
  const isDamage = kind !== "none" && kind !== "append";
  return !isTold && isDamage && mustBeTold(at, fixture) ? `${kind} at ${at}: is not told` : null;
}
