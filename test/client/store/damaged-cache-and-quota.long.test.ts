import { cp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { damageFile } from "../../helpers/damaged-run.js";
import type { RunReputeResult } from "../../helpers/run-repute.js";
import { seeded } from "../../helpers/seeded.js";
import { column, servedWorkspace } from "../../helpers/workspace.js";

/** A few items are not cached, so that every run uses its quota. */
const cached = Array.from({ length: 100 }, (_, n) => `n${n}.example.com`);
const fresh = Array.from({ length: 4 }, (_, n) => `fresh${n}.example.com`);

/** A place with a cache and a quota count, which each round damages and uses. */
async function filled() {
  const { cwd, askWith, read } = await servedWorkspace({
    "warm.csv": column("domain", cached),
    "in.csv": column("domain", [...cached, ...fresh]),
  });
  const env = { XDG_STATE_HOME: join(cwd, "used/state") };
  const enrich = (input: string, ...flags: readonly string[]): Promise<RunReputeResult> =>
    askWith({ env }, "enrich", input, "-o", "out.csv", "--quiet", "--rate", "900/s", ...flags);
  const stored = ["--cache", "used/cache", "--rate", "1000/d"];
  expect(await enrich("in.csv")).toMatchObject({ code: 0, stderr: "" });
  const sound = answersOf(await read("out.csv"));
  expect(await enrich("warm.csv", ...stored)).toMatchObject({ code: 0, stderr: "" });
  await cp(join(cwd, "used"), join(cwd, "kept"), { recursive: true });
  /** Damages a file, runs, and says what is wrong with the result; null for nothing. */
  return async (seed: number) => {
    await rm(join(cwd, "used"), { recursive: true });
    await cp(join(cwd, "kept"), join(cwd, "used"), { recursive: true });
    const random = seeded(seed);
    const files = await filesIn(join(cwd, "used"));
    const path = files[Math.floor(random() * files.length)]!;
    const { kind, at } = await damageFile(path, random);
    const { code, stderr } = await enrich("in.csv", ...stored, "--restart");
    const rows = code === 0 ? answersOf(await read("out.csv")) : null;
    const fault = faultOf({ code, stderr, rows, sound, isQuota: path.includes("/quota/") });
    const end = stderr === "" ? "unseen" : String(code);
    return {
      fault: fault && `${fault} (seed ${seed}, ${path}, ${kind} at ${at}): ${stderr}`,
      end,
    };
  };
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => join(parentPath, name)).toSorted();
}

interface Round extends Pick<RunReputeResult, "code" | "stderr"> {
  readonly rows: string | null;
  readonly sound: string;
  readonly isQuota: boolean;
}

function faultOf({ code, stderr, rows, sound, isQuota }: Round): string | null {
  if (/unexpected error|\n\s+at |undefined|\[object|NaN/.test(stderr)) return "a fault of its own";
  for (const line of stderr.split("\n").filter((text) => text.startsWith("repute: warning:"))) {
    if (!/(?:cache|quota count) \S*used\/\S+/.test(line)) return "a warning names no file";
    const hasRemedy = /delete the folder|set aside as|delete the file/.test(line);
    if (!hasRemedy) return "a warning names no remedy";
  }
  if (isQuota && code === 1) {
    const isTold = /the quota count \S*used\/\S+ is damaged: .*delete the file/s;
    return isTold.test(stderr) ? null : "the damage is not told";
  }
  if (code !== 0) return `exit code ${code}`;
  return rows === sound ? null : "wrong rows";
}

/** Rows without values that differ from run to run: source and time of an answer. */
function answersOf(csv: string): string {
  const records = parse(csv, { columns: true }) as Record<string, string>[];
  return JSON.stringify(
    records.map(({ rep_source: _source, rep_looked_up_at: _at, ...rest }) => rest),
  );
}

test("a damaged cache or quota count costs requests or the run, never a wrong row", async () => {
  const round = await filled();
  // A failure names its seed.
  const from = Math.floor(Math.random() * 2 ** 30);
  const faults: string[] = [];
  const ends = new Set<string>();
  for (let seed = from; seed < from + 120; seed++) {
    const { fault, end } = await round(seed);
    ends.add(end);
    if (fault !== null) faults.push(fault);
  }
  expect(faults).toEqual([]);
  // Every effect occurs: none, a warning, an error.
  expect(ends).toEqual(new Set(["unseen", "0", "1"]));
});
