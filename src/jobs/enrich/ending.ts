import { join } from "node:path";
import { makeFolder } from "../../core/files/folders.js";
import { manifestPath } from "../../core/files/output-names.js";
import { faultReason } from "../../core/files/system-fault.js";
import { writeManifest } from "../../io/output/manifest-file.js";
import { readUnfinished, saveUnfinished } from "./state/state-folder.js";
import type { Job } from "./types.js";
import {
  EarlyEndError,
  InterruptedError,
  ReputeError,
  stopSignals,
  UsageError,
} from "../../core/errors.js";
import type { ExitReason, Manifest, RunEnding } from "../../core/manifest.js";
import { redactAddress } from "../../core/redaction.js";
import { OutputClosedError } from "../../io/output/part-file.js";
import type { FailOn } from "./failure-limits.js";

export const exitCodes = {
  done: 0,
  stopped: 1,
  usage: 2,
  rowsFailed: 3,
  stoppedEarly: 75,
  SIGHUP: 129,
  SIGINT: 130,
  SIGQUIT: 131,
  SIGTERM: 143,
} as const;

/** Ending of a run that an error ended. @param kept its state is kept, to continue from */
export function endingOfError(error: unknown, kept: boolean): RunEnding {
  const known = error instanceof ReputeError ? error : null;
  const message = redactAddress(error instanceof Error ? error.message : String(error));
  const hint = known === null || known.hint === null ? null : redactAddress(known.hint);
  return {
    exit_reason: exitReasonOfError(error),
    exit_code: exitCodeOfError(error),
    resumable: kept && canContinue(error),
    error: { code: known?.code ?? "unexpected", message, hint },
  };
}

/**
 * Exit code of a finished run: 3 if it has rows that `--fail-on` counts and they reach its share of
 * all rows, else 0.
 */
export function exitCodeOfRun(failOn: FailOn, statuses: Manifest["statuses"]): number {
  const rows = Object.values(statuses).reduce((sum, n) => sum + n, 0);
  const counted = failOn.statuses.reduce((sum, status) => sum + statuses[status], 0);
  const isEnough = counted > 0 && counted * 100 >= (failOn.percent ?? 0) * rows;
  return isEnough ? exitCodes.rowsFailed : exitCodes.done;
}

/** Exit code for an error. A closed stdout (`| head`) is not an error. */
export function exitCodeOfError(error: unknown): number {
  if (error instanceof OutputClosedError) return exitCodes.done;
  if (error instanceof UsageError) return exitCodes.usage;
  if (error instanceof EarlyEndError) return exitCodes.stoppedEarly;
  if (error instanceof InterruptedError) return exitCodes[error.signal];
  return exitCodes.stopped;
}

/** Whether a signal ended the run with this exit code. */
export function isInterrupted(code: number): boolean {
  return stopSignals.some((name) => exitCodes[name] === code);
}

const reasons: Partial<Record<string, ExitReason>> = {
  requests_spent: "budget",
  deadline_reached: "deadline",
  quota_used_up: "quota",
  interrupted: "interrupted",
  output_closed: "interrupted",
  unauthorized: "refused",
  forbidden: "refused",
  authentication_failed: "refused",
  wrong_service: "wrong_service",
  response_schema: "wrong_service",
  response_mismatch: "wrong_service",
  too_many_failed: "too_many_failed",
  nothing_to_look_up: "nothing_to_look_up",
  too_few_rows: "too_few_rows",
  service_outage: "unreachable",
  service_unreachable: "unreachable",
  workers_away: "unreachable",
  // A file that cannot be read is not a mistake on the command line, although the exit code is 2.
  input_not_found: "io",
  input_unreadable: "io",
  secret_unreadable: "io",
  manifest_missing: "io",
  manifest_unreadable: "io",
};

/** Codes of requests that got no answer, or only an error. */
const requestFault =
  /^(?:http_\d+|connect_\w+|dns_failure|proxy_failure|tls_failure|certificate_rejected|connection_reset|timeout|truncated_body|invalid_http)$/;

function exitReasonOfError(error: unknown): ExitReason {
  const code = error instanceof ReputeError ? error.code : null;
  const known = code === null ? undefined : reasons[code];
  if (known !== undefined) return known;
  if (error instanceof UsageError) return "usage";
  return code !== null && requestFault.test(code) ? "unreachable" : "io";
}

/** Faults that `--resume` would meet again: only `--restart` helps. */
const damaged = /^(?:state_(?:damaged|version)|output_(?:state_damaged|table_differs)|rows_lost)$/;

function canContinue(error: unknown): boolean {
  if (!(error instanceof ReputeError)) return true;
  if (error instanceof UsageError)
    return error.code === "state_exists" || reasons[error.code] === "io";
  return !damaged.test(error.code);
}

/** Adds to the record of an unfinished run why it ended. */
export async function recordEnding(folder: string, error: unknown): Promise<void> {
  // Wrong usage starts nothing, so the end before it still stands.
  if (error instanceof UsageError) return;
  const record = await readUnfinished(folder);
  if (record !== null) await saveUnfinished(folder, { ...record, ...endingOfError(error, true) });
}

/** Writes the manifest of a run into a stream to the state folder, in place of the previous one. */
export async function recordStream(job: Job, manifest: Manifest): Promise<void> {
  const { stateFolder = null, onWarning } = job;
  const { stateDir } = job.settings.run;
  const folder = stateDir ?? stateFolder;
  if (folder === null) return;
  const base = join(folder, "stdout");
  try {
    makeFolder(folder, 0o700);
    await writeManifest(base, manifest);
  } catch (error) {
    // Only a folder that `--state-dir` names is worth a warning.
    if (stateDir === undefined) return;
    const reason = faultReason(error instanceof Error ? (error.cause ?? error) : error);
    onWarning?.(`cannot write ${manifestPath(base)}: ${reason}`);
  }
}
