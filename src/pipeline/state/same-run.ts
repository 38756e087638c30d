import { UsageError } from "../../core/errors.js";
import type { Checkpoint } from "./checkpoint.js";
import { compareFingerprints, fingerprintOf, identifyInput } from "./fingerprint.js";
import type { Fingerprint, FingerprintComparison } from "./fingerprint.js";
import type { OutputTarget } from "../output/open-output.js";
import type { EnrichJob } from "../types.js";
import type { RowJob } from "../run/reading.js";

/** What makes a run the one that it is: its input, and all that its output depends on. */
export async function takeFingerprint(
  job: EnrichJob,
  rows: RowJob,
  target: OutputTarget,
): Promise<Fingerprint> {
  const { settings } = job;
  return fingerprintOf(await identifyInput(job.input), {
    ...rows.options,
    to: target.format,
    gzip: target.gzip,
    prefix: settings.prefix,
    shape: settings.shape ?? null,
    "formula-guard": settings.formulaGuard,
    unordered: settings.unordered,
    lookups: settings.lookups,
    bogons: settings.bogons === "local" ? "local" : null,
    rejects: settings.rejects ?? null,
    "intel-url": job.serviceName ?? settings.intelUrl ?? null,
  });
}

/** Compares an interrupted run with this one. */
export async function compareRuns(
  job: EnrichJob,
  before: Checkpoint,
  now: Fingerprint,
): Promise<FingerprintComparison> {
  const oldSize = before.fingerprint.input.bytes ?? undefined;
  const atOldSize = await identifyInput(job.input, oldSize);
  return compareFingerprints(before.fingerprint, now, atOldSize);
}

/**
 * Makes sure that this run is the one that was interrupted; tells whether its input grew.
 *
 * @throws UsageError `resume_differs`, naming the differences
 */
export async function sameRun(
  job: EnrichJob,
  before: Checkpoint,
  now: Fingerprint,
): Promise<boolean> {
  const { differences, inputGrew } = await compareRuns(job, before, now);
  if (differences.length > 0) {
    throw new UsageError(
      "resume_differs",
      `this is not the run that was interrupted: ${differences.join("; ")}`,
      { hint: "repeat it with what it was given, or start anew with --restart" },
    );
  }
  if (inputGrew) job.onWarning?.("the input has become longer since the run was interrupted");
  return inputGrew;
}
