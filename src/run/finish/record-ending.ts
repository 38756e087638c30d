import { UsageError } from "../../core/errors.js";
import { readUnfinished, saveUnfinished } from "../state/checkpoint.js";
import type { Manifest } from "../../core/manifest/manifest.js";
import type { EnrichJob } from "../types.js";
import { endingOfError } from "../exit-reason.js";

/** A job, and the manifest of its run so far: null until rows flow. */
export interface NotedJob {
  readonly job: EnrichJob;
  readonly soFar: () => Manifest | null;
}

/** Notes the manifest of a run so far, to record it with the run's ending. */
export function noteRecord(job: EnrichJob): NotedJob {
  let soFar: (() => Manifest) | null = null;
  const noted: EnrichJob = {
    ...job,
    onStart(progress, record) {
      soFar = record;
      job.onStart?.(progress, record);
    },
  };
  return { job: noted, soFar: () => soFar?.() ?? null };
}

/** Records in its state folder why a run ended, with its counts so far. */
export async function recordEnding(
  folder: string,
  error: unknown,
  { soFar }: NotedJob,
): Promise<void> {
  // Wrong usage starts nothing, so the end before it still stands.
  if (error instanceof UsageError) return;
  const record = soFar() ?? (await readUnfinished(folder));
  if (record !== null) await saveUnfinished(folder, { ...record, ...endingOfError(error, true) });
}
