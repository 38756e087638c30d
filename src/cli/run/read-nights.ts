import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { UsageError } from "../../core/errors.js";
import type { Manifest } from "../../pipeline/types.js";
import type { Night } from "../../report/history.js";
import { fileFault } from "../terminal/reporter.js";

const counts = z.record(z.string(), z.number());

const nightSchema = z.object({
  run_id: z.string(),
  started_at: z.string(),
  output: z.object({ rows: z.number() }),
  statuses: counts,
  verdicts: counts.default({}),
  requests: z.record(z.string(), z.object({ total: z.number() })),
  seconds: z.number(),
  drift: counts.default({}),
});

/**
 * Reads the manifests in a folder, and adds tonight's unless it is one of them.
 *
 * @param onWarning called for each `.json` file that is not a manifest
 * @throws UsageError `manifest_missing`, `history_unreadable`
 */
export async function nightsIn(
  folder: string,
  tonight: Partial<Manifest> | null,
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
  const nights = new Map([[own.data.run_id, nightOf(own.data)]]);
  for (const name of names.filter((each) => each.endsWith(".json")).toSorted()) {
    const night = await readNight(join(folder, name));
    // A later night than the output's is not its past.
    if (night === null) onWarning(`${join(folder, name)} is not a manifest; it is left out`);
    else if (night.startedAt <= own.data.started_at) nights.set(night.runId, night);
  }
  return [...nights.values()];
}

async function readNight(path: string): Promise<Night | null> {
  try {
    const read = nightSchema.safeParse(JSON.parse(await readFile(path, "utf8")));
    return read.success ? nightOf(read.data) : null;
  } catch {
    return null;
  }
}

function nightOf(manifest: z.output<typeof nightSchema>): Night {
  const { run_id: runId, started_at: startedAt, statuses, verdicts, seconds } = manifest;
  const requests = sum(Object.values(manifest.requests).map(({ total }) => total));
  const drift = sum(Object.values(manifest.drift));
  const { rows } = manifest.output;
  return { runId, startedAt, rows, statuses, verdicts, requests, seconds, drift };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
