import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startAnsweringServer } from "./answering-server.js";
import { enrichKilled, type KilledRun, mostRepeated } from "./enrich-killed.js";
import { runRepute } from "./run-repute.js";
import { seeded } from "./seeded.js";
import { temporaryFolder } from "./temporary-folder.js";

/** An output of runs that are killed. */
export interface KilledOutput {
  /** The value of `-o`. @param place a word of its own in each folder */
  readonly output: (place: string) => string;
  readonly args?: readonly string[];
  /** @default in.csv */
  readonly input?: "in.csv" | "in.ndjson";
  /** Whether it has the rows of another run before. @default false */
  readonly isTable?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly length: number;
  /** What is there, of that length, without what may differ: time and source of an answer. */
  readonly read: (cwd: string, place: string) => Promise<readonly unknown[]>;
}

/** The rest of the time, the program starts. */
const worthKilling = 0.75;

/** Rows of the input, and items that are looked up. */
export const [rows, items] = [6_000, 5_440];

/** Rows of the run before. */
export const earlierRows = 200;

/** Tests outputs, each by its name. */
export function describeKills(outputs: readonly (readonly [string, KilledOutput])[]): void {
  it.each(outputs)(
    "a run that is killed repeatedly ends with the rows of an undisturbed run and repeats no paid request: %s",
    { timeout: 3_600_000 },
    async (name, output) => {
      await expect(surviveKills(name, output)).resolves.toBeUndefined();
    },
  );
}

/**
 * Kills runs into an output at random moments, resumes each until it ends, and compares what is there
 * with the output of an undisturbed run. `REPUTE_TEST_KILLS=40` for the long version.
 */
async function surviveKills(name: string, killed: KilledOutput): Promise<void> {
  const kills = Number(process.env["REPUTE_TEST_KILLS"] ?? "1");
  const { output, args = [], input = "in.csv", isTable = false, env = {}, read } = killed;
  const server = await startAnsweringServer();
  const folder = async (place: string) => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, input), inputOf(input, rows));
    await writeFile(join(cwd, "before.csv"), inputOf("before.csv", earlierRows));
    const target = ["-o", output(place), ...args, "--state-dir", cwd];
    const session = (from: string, kill: KilledRun["kill"]) =>
      enrichKilled({ server, cwd, env, args: [from, ...target, "--resume"], kill });
    const ready = { code: 0, stderr: "" };
    expect(isTable ? await session("before.csv", null) : ready).toMatchObject(ready);
    const found = () => read(cwd, place);
    return {
      cwd,
      found,
      asked: server.total,
      run: (kill: KilledRun["kill"]) => session(input, kill),
    };
  };

  const calm = await folder("calm");
  const started = performance.now();
  expect(await calm.run({ requests: 0, ms: 120_000 })).toMatchObject({ code: 0, stderr: "" });
  let span = performance.now() - started;
  const expected = await calm.found();
  expect([expected.length, server.total - calm.asked]).toEqual([killed.length, items]);

  const random = seeded(name.length * 7_919 + kills);
  let [total, resumed] = [0, 0];
  for (let run = 1; total < kills; run++) {
    const { cwd, found, asked, run: session } = await folder(`killed${run}`);
    const left = async () =>
      (await readdir(cwd, { recursive: true })).filter((file) =>
        /\.(?:state(?:\.done)?|part)$/.test(file),
      );
    let here = 0;
    for (let isDone = false; !isDone;) {
      const ms = span * (1 - worthKilling * random());
      const from = performance.now();
      const { code } = await session(total < kills ? { requests: 0, ms } : null);
      // The machine has become faster: another such run would end before its kill, too.
      if (code !== null && here === 0) span = Math.min(span, performance.now() - from);
      total += code === null ? 1 : 0;
      here += code === null ? 1 : 0;
      // A kill may come after everything is done, just before the process exits.
      const isWhole = async () => (await found().catch(() => [])).length === killed.length;
      isDone = code !== null || ((await left()).length === 0 && (await isWhole()));
      expect([0, null]).toContain(code);
    }
    resumed += here > 0 ? 1 : 0;
    expect(await found()).toEqual(expected);
    expect(server.total - asked - items).toBeLessThanOrEqual(here * mostRepeated);
    expect(await left()).toEqual([]);
    const verify = ["verify", output(`killed${run}`), "--state-dir", cwd, "--quiet"];
    expect(await runRepute(verify, { cwd, env })).toMatchObject({ code: 0, stderr: "" });
  }
  process.stdout.write(`${name}: ${total} kills of ${resumed} runs, ${Math.round(span)} ms each\n`);
}

/** Every tenth row repeats an earlier one, and some are no names. */
function inputOf(name: string, count: number): string {
  const domains = Array.from({ length: count }, (_, n) =>
    n % 100 === 7 ? "setup.exe" : `host-${n % 10 === 9 ? n % 1_000 : n}.example.com`,
  );
  return name.endsWith(".csv")
    ? `n,domain\n${domains.map((domain, n) => `${n},${domain}\n`).join("")}`
    : domains.map((domain, n) => `${JSON.stringify({ n, domain })}\n`).join("");
}
