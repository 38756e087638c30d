import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "../../../core/errors.js";
import { counted } from "../../../core/text/quantity.js";
import { type FoundManifest, parseManifest } from "../../../core/manifest/found-manifest.js";
import type { Night } from "../../../report/history.js";
import { fileFault } from "../../terminal/reporter.js";
import { withoutFailed } from "../../../core/files/output-names.js";

interface KnownNight extends Night {
  /** Name of the output with `{date}` for a date and `{run_id}` for a run ID; "" for stdout. */
  readonly pattern: string;
}

/**
 * Reads the manifests in a folder that are about earlier nights of the same output, and adds tonight's
 * unless it is one of them.
 *
 * @param onWarning called for each `.json` file that is not a manifest, and if all manifests are about
 *   other outputs
 * @throws UsageError `manifest_missing`, `history_unreadable`
 */
export async function nightsIn(
  folder: string,
  tonight: FoundManifest | null,
  output: string,
  onWarning: (message: string) => void = () => undefined,
): Promise<readonly Night[]> {
  const own = nightOf(tonight);
  if (own === null) {
    const message = `${output} has no manifest to compare with --history`;
    throw new UsageError("manifest_missing", message, {
      hint: "keep OUT.manifest.json beside OUT",
    });
  }
  const names = await readdir(folder).catch((error: unknown) => {
    const fault = `cannot read ${folder}: ${fileFault(error)}`;
    throw new UsageError("history_unreadable", fault, { hint: "name a folder of manifests" });
  });
  const nights = new Map([[own.runId, own]]);
  let others = 0;
  for (const name of names.filter((each) => each.endsWith(".json")).toSorted()) {
    const night = await readNight(join(folder, name));
    if (night === null) onWarning(`${join(folder, name)} is not a manifest; it is left out`);
    else if (!isSameOutput(night.pattern, own.pattern)) others++;
    // A later night than the output's is not its past.
    else if (night.startedAt <= own.startedAt) nights.set(night.runId, night);
  }
  if (nights.size === 1 && others > 0) {
    onWarning(
      `${folder} has no earlier night of ${own.pattern}; it has ${counted(others, "manifest")} of other outputs`,
    );
  }
  return [...nights.values()];
}

async function readNight(path: string): Promise<KnownNight | null> {
  try {
    return nightOf(parseManifest(JSON.parse(await readFile(path, "utf8")), path));
  } catch {
    return null;
  }
}

/** A night as its manifest tells it; null if that is no manifest. */
function nightOf(manifest: FoundManifest | null): KnownNight | null {
  const { run_id: runId, started_at: startedAt, statuses, seconds } = manifest ?? {};
  const { output, requests, verdicts = {}, drift = {} } = manifest ?? {};
  const { path = null, rows } = output ?? {};
  if (runId === undefined || startedAt === undefined || seconds === undefined) return null;
  if (rows === undefined || statuses === undefined || requests === undefined) return null;
  const pattern = patternOf(path ?? "");
  const asked = sum(Object.values(requests).map(({ total }) => total));
  const drifted = sum(Object.values(drift));
  const counts = { rows, statuses, verdicts, requests: asked, seconds, drift: drifted };
  return { runId, startedAt, ...counts, pattern };
}

/** A run ID, or a date (`2026-11-24`, `20261124`), with or without a time (`20261124T020000Z`). */
const runIds = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gi;
const dates = /(?<!\d)20\d\d([-_.]?)[01]\d\1[0-3]\d(?!\d)(?:T\d\d(?:[-:]?\d\d){0,2}(?:\.\d+)?Z?)?/g;

function patternOf(path: string): string {
  const name = withoutFailed(path).replace(/^(?:\.\/)+/, "");
  return name.replaceAll(runIds, "{run_id}").replaceAll(dates, "{date}");
}

/** Whether two names are equal, as far as both name folders: `/srv/nights/{date}.csv`, `{date}.csv`. */
function isSameOutput(a: string, b: string): boolean {
  if (a === "" || b === "") return a === b;
  return a === b || a.endsWith(`/${b}`) || b.endsWith(`/${a}`);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
