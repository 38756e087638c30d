import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { FatalError, type ReputeError, UsageError } from "../../core/errors.js";
import { makeFolder } from "../../core/files/folders.js";
import { serviceAddress } from "../api/options.js";
import { QuotaCounts, type QuotaStore } from "../pace/quota.js";
import { explainFault, SqliteFile } from "./sqlite-file.js";

interface QuotaLocation {
  /** Address of the service whose quotas are counted. */
  readonly service: string;
  /** The user's state folder (XDG_STATE_HOME). */
  readonly stateFolder: string;
}

/** The counts of a service so far. @throws as `openQuotas` */
export function readQuotas(location: QuotaLocation): QuotaCounts {
  if (!existsSync(quotaPath(location))) return new QuotaCounts();
  const file = openCounts(location);
  try {
    return countsIn(file);
  } finally {
    file.close();
  }
}

/**
 * Counts a service's quotas in a small SQLite file in the user's state folder, shared by all processes
 * that use the folder. A change is on disk before the requests it counts are sent. A killed process
 * leaves its reservation counted in full. While another process holds the lock for too long, or the disk
 * fails, no request is permitted.
 *
 * @param onWarning called while the count cannot be written
 * @throws UsageError `quota_uncounted` if the folder cannot be written; FatalError `quota_damaged`
 */
export function openQuotas(location: QuotaLocation, onWarning: (message: string) => void) {
  let file = openCounts(location);
  const { path } = file;
  let isFailing = false;
  const change: QuotaStore["change"] = (work) => {
    try {
      if (!file.isInPlace) {
        // Deleting it starts from 0.
        const fresh = SqliteFile.open(path, "counts");
        file.close();
        file = fresh;
      }
      const changed = file.transact(() => {
        const counts = countsIn(file);
        const result = work(counts);
        file.write({ counts: counts.state });
        return result;
      });
      isFailing = false;
      return changed;
    } catch (error) {
      const { kind, message } = explainFault(path, error, `the quota count ${path}`, "write");
      const until = kind === "damaged" ? "you delete the file" : "it can be written";
      if (!isFailing) onWarning(`${message}; sending nothing until ${until}`);
      isFailing = true;
      return null;
    }
  };
  return { change, close: () => file.close() };
}

/** Opens the file of a service's counts, and checks it. */
function openCounts(location: QuotaLocation): SqliteFile {
  const path = quotaPath(location);
  let file: SqliteFile | null = null;
  try {
    makeFolder(dirname(path), 0o700);
    file = SqliteFile.open(path, "counts");
    file.check();
    countsIn(file);
    return file;
  } catch (error) {
    file?.close();
    throw quotaFault(path, error);
  }
}

/** Every change keeps them: only a new file has none. */
function countsIn(file: SqliteFile): QuotaCounts {
  return new QuotaCounts(file.read("counts") ?? {});
}

function quotaFault(path: string, cause: unknown): ReputeError {
  const { kind, why, message } = explainFault(path, cause, `the quota count ${path}`);
  if (kind !== "damaged" && kind !== "version") {
    return quotaUncounted(`in ${dirname(path)}: ${why}`);
  }
  const hint = "delete the file to count from 0: requests sent before are not counted then";
  return new FatalError("quota_damaged", message, { cause, hint });
}

/** @param why a clause that follows "cannot count quotas" */
export function quotaUncounted(why: string): UsageError {
  return new UsageError("quota_uncounted", `cannot count quotas ${why}`, {
    hint: "set XDG_STATE_HOME to a folder that you can write; runs share their count there",
  });
}

/** The file that holds a service's counts. Spellings of the same address share one. */
export function quotaPath({ stateFolder, service }: QuotaLocation): string {
  const address = serviceAddress(service);
  const host = new URL(service).hostname.replaceAll(/[^a-z0-9.-]/g, "_").slice(0, 100);
  const digest = createHash("sha256").update(address).digest("hex").slice(0, 16);
  return join(stateFolder, "quota", `${host}-${digest}.db`);
}
