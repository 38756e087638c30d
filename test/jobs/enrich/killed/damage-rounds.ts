import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parse } from "csv-parse/sync";
import { expect } from "vitest";
import { startAnsweringServer } from "../../../helpers/answering-server.js";
import { runRepute } from "../../../helpers/run-repute.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

/** The result of one round: what was damaged, and what the program did. */
interface Round {
  readonly seed: number;
  readonly damage: string;
  readonly code?: number;
  readonly stderr?: string;
  readonly rows?: string | null;
}

/** Runs sync to disk; a file system in memory, if available, saves that time. */
const inMemory = existsSync("/dev/shm") ? "/dev/shm" : undefined;

const script = fileURLToPath(new URL("damaged-runs.mjs", import.meta.url));

/** A few items are not cached, so that every run uses its quota. */
const items = { cached: 100, fresh: 4 };

/**
 * Fills a cache and a quota count, damages copies of both, one file per round, and runs again.
 *
 * @returns the results of all rounds
 */
export async function damageRounds(seeds: readonly number[]): Promise<readonly Round[]> {
  const server = await startAnsweringServer();
  const folder = await temporaryFolder(inMemory);
  const kept = join(folder, "kept");
  await mkdir(kept);
  const names = Array.from({ length: items.cached + items.fresh }, (_, n) => `n${n}.example.com\n`);
  await writeFile(join(folder, "warm.csv"), `domain\n${names.slice(0, items.cached).join("")}`);
  await writeFile(join(folder, "in.csv"), `domain\n${names.join("")}`);
  const flags = ["--lookups", "query", "--rate", "900/s", "--rate", "1000/d", "--quiet"];
  const service = ["--intel-url", server.url, "--cache", join(kept, "cache")];
  const env = { XDG_STATE_HOME: join(kept, "state") };
  const warm = ["enrich", "warm.csv", "-o", "warm.out.csv", ...service, ...flags];
  expect(await runRepute(warm, { cwd: folder, env })).toMatchObject({ code: 0, stderr: "" });
  const sound = { input: join(folder, "in.csv"), url: server.url };
  const expected = await soundRows(folder, sound);

  const halves = [0, 1].map((half) => seeds.filter((_, n) => n % 2 === half));
  const ends = await Promise.all(
    halves.map((half, n) =>
      rounds({ ...sound, kept, work: join(folder, `work${n}`), seeds: half }),
    ),
  );
  const all = ends.flat();
  expect(all.flatMap((round) => problems(round, expected)).join("\n")).toBe("");
  return all;
}

/** The rows of an undisturbed run. */
async function soundRows(
  folder: string,
  { input, url }: { readonly input: string; readonly url: string },
): Promise<string> {
  const args = ["enrich", input, "-o", "sound.csv", "--intel-url", url, "--lookups", "query"];
  const { code } = await runRepute([...args, "--rate", "900/s", "--quiet"], { cwd: folder });
  expect(code).toBe(0);
  return answersOf(await readFile(join(folder, "sound.csv"), "utf8"));
}

async function rounds(options: {
  readonly input: string;
  readonly url: string;
  readonly kept: string;
  readonly work: string;
  readonly seeds: readonly number[];
}): Promise<readonly Round[]> {
  const ended = await promisify(execFile)(process.execPath, [script, JSON.stringify(options)], {
    maxBuffer: 2 ** 30,
  }).catch((error: { stdout: string; stderr: string; signal: string }) => error);
  const told = ended.stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Round);
  const whole = told.filter(({ code }) => code !== undefined);
  if (whole.length < options.seeds.length) {
    const { seed, damage } = told.at(-1) ?? {};
    const signal = "signal" in ended ? ended.signal : "no signal";
    throw new Error(`the program died (${signal}) of seed ${seed}, ${damage}: ${ended.stderr}`);
  }
  return whole;
}

/** What is wrong with the result of a round; empty if nothing is. */
function problems(round: Round, expected: string): readonly string[] {
  const { seed, damage, code, stderr = "", rows } = round;
  const found: string[] = [];
  if (/unexpected error|\n\s+at |undefined|\[object|NaN/.test(stderr))
    found.push("a fault of its own");
  for (const line of stderr.split("\n").filter((text) => text.startsWith("repute: warning:"))) {
    if (!/(cache|quota count) \S+work\d\/\S+/.test(line)) found.push("a warning names no file");
    if (!/delete the folder|a new one takes its place|delete the file/.test(line)) {
      found.push("a warning names no remedy");
    }
  }
  if (damage.startsWith("state") && code === 75) {
    const isTold =
      /quota count .* is damaged or of another version of repute: .*\n.*is used up until/s.test(
        stderr,
      );
    if (!isTold) found.push("the damage is not told");
  } else if (code !== 0) {
    found.push(`exit code ${code}`);
  } else if (answersOf(rows ?? "") !== expected) {
    found.push("wrong rows");
  }
  return found.map((problem) => `${problem} (seed ${seed}, ${damage}): ${stderr}`);
}

/** Rows without values that differ from run to run: source and time of an answer. */
function answersOf(csv: string): string {
  const records = parse(csv, { columns: true }) as Record<string, string>[];
  return JSON.stringify(
    records.map(({ rep_source: _source, rep_looked_up_at: _at, ...rest }) => rest),
  );
}
