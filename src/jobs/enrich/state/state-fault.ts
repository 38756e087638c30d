import { hostname } from "node:os";
import {
  kindOfFault,
  SqliteFile,
  storeFault,
  systemError,
} from "../../../client/store/sqlite-file.js";
import { FatalError, ReputeError, startOver, UsageError } from "../../../core/errors.js";
import { outputFault } from "../../../core/files/output-fault.js";

export function hasCode(error: unknown, code: string): boolean {
  return error instanceof ReputeError && error.code === code;
}

/** Who has a database, for messages. */
export interface Runner {
  readonly id: string;
  readonly pid: number;
  readonly host: string;
  /** RFC 3339 UTC. */
  readonly since: string;
}

/** Who has the database at a path; null if that cannot be told. */
export function runnerOf(path: string): Runner | null {
  return SqliteFile.peek(path, "runner") as Runner | null;
}

/** Explains an error of SQLite or the system. */
export function stateFault(path: string, cause: unknown): ReputeError {
  if (cause instanceof ReputeError) return cause;
  const kind = kindOfFault(path, cause);
  if (kind === "damaged") {
    return new FatalError("state_damaged", `${path} is damaged: ${storeFault(cause)}`, {
      cause,
      hint: `${startOver}: it keeps the answers that can be read`,
    });
  }
  if (kind === "version") {
    return new UsageError("state_version", `another version of repute wrote ${path}`, {
      hint: `finish the run with that version, or ${startOver}`,
    });
  }
  const fault = outputFault(path, systemError(cause));
  if (kind !== "locks") return fault;
  const hint = "name a folder on a local disk with --state-dir";
  return new FatalError(fault.code, `cannot use ${path}: ${storeFault(cause)}`, { cause, hint });
}

export function locked(path: string): UsageError {
  const runner = runnerOf(path);
  const where = runner === null || runner.host === hostname() ? "" : ` on ${runner.host}`;
  const who = runner === null ? "" : ` (process ${runner.pid}${where})`;
  const since = runner === null ? "" : `it has been at work since ${runner.since}: `;
  return new UsageError("output_locked", `another run${who} is writing this output`, {
    hint: `${since}wait for it, or write elsewhere`,
  });
}
