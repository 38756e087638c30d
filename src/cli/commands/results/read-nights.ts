import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { UsageError } from "../../../core/errors.js";
import { counted } from "../../../core/text/quantity.js";
import type { FoundManifest } from "../../../core/manifest/found-manifest.js";
import type { Night } from "../../../report/history.js";
import { fileFault } from "../../terminal/reporter.js";
import { withoutFailed } from "../../../core/files/output-names.js";

const counts = z.record(z.string(), z.number());

const nightSchema = z.object({
  run_id: z.string(),
  started_at: z.string(),
  output: z.object({ path: z.string().nullish(), rows: z.number() }),
  statuses: counts,
  verdicts: counts.default({}),
  requests: z.record(z.string(), z.object({ total: z.number() })),
  seconds: z.number(),
  drift: counts.default({}),
});

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
  const own = nightSchema.safeParse(tonight);
  if (!own.success) {
    throw new UsageError(
      "manifest_missing",
      `${output} has no manifest to compare with --history`,
      {
        hint: "keep OUT.manifest.json beside OUT",
      },
    );
  }
  const names = await readdir(folder).catch((error: unknown) => {
    const fault = `cannot read ${folder}: ${fileFault(error)}`;
    throw new UsageError("history_unreadable", fault, { hint: "name a folder of manifests" });
  });
  const pattern = patternOf(own.data);
  const nights = new Map([[own.data.run_id, nightOf(own.data)]]);
  let others = 0;
  for (const name of names.filter((each) => each.endsWith(".json")).toSorted()) {
    const night = await readManifestOfNight(join(folder, name));
    if (night === null) onWarning(`${join(folder, name)} is not a manifest; it is left out`);
    else if (!isSameOutput(patternOf(night), pattern)) others++;
    // A later night than the output's is not its past.
    else if (night.started_at <= own.data.started_at) nights.set(night.run_id, nightOf(night));
  }
  if (nights.size === 1 && others > 0) {
    onWarning(
      `${folder} has no earlier night of ${pattern}; it has ${counted(others, "manifest")} of other outputs`,
    );
  }
  return [...nights.values()];
}

type NightManifest = z.output<typeof nightSchema>;

async function readManifestOfNight(path: string): Promise<NightManifest | null> {
  try {
    const read = nightSchema.safeParse(JSON.parse(await readFile(path, "utf8")));
    return read.success ? read.data : null;
  } catch {
    return null;
  }
}

/** A run ID, or a date (`2026-11-24`, `20261124`), with or without a time (`20261124T020000Z`). */
const runIds = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gi;
const dates = /(?<!\d)20\d\d([-_.]?)[01]\d\1[0-3]\d(?!\d)(?:T\d\d(?:[-:]?\d\d){0,2}(?:\.\d+)?Z?)?/g;

/** The name of a run's output with `{date}` for a date and `{run_id}` for a run ID; "" for stdout. */
function patternOf({ output: { path } }: NightManifest): string {
  const name = withoutFailed(path ?? "").replace(/^(?:\.\/)+/, "");
  return name.replaceAll(runIds, "{run_id}").replaceAll(dates, "{date}");
}

/** Whether two names are equal, as far as both name folders: `/srv/nights/{date}.csv`, `{date}.csv`. */
function isSameOutput(a: string, b: string): boolean {
  if (a === "" || b === "") return a === b;
  return a === b || a.endsWith(`/${b}`) || b.endsWith(`/${a}`);
}

function nightOf(manifest: NightManifest): Night {
  const { run_id: runId, started_at: startedAt, statuses, verdicts, seconds } = manifest;
  const requests = sum(Object.values(manifest.requests).map(({ total }) => total));
  const drift = sum(Object.values(manifest.drift));
  const { rows } = manifest.output;
  return { runId, startedAt, rows, statuses, verdicts, requests, seconds, drift };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
