import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { FatalError, type ReputeError, UsageError } from "../../core/errors.js";
import { makeFolder } from "../../core/files/folders.js";
import { serviceAddress } from "./cache-key.js";
import { QuotaCounts, type QuotaStore } from "./quota.js";
import { explainFault, SqliteFile, storeFault } from "./sqlite-file.js";

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
 * Counts a service's quotas in the user's state folder.
 *
 * @param onWarning called while the count cannot be written
 * @throws UsageError `quota_uncounted` if the folder cannot be written; FatalError `quota_damaged`
 */
export function openQuotas(
  location: QuotaLocation,
  onWarning: (message: string) => void,
): FileQuotaStore {
  return new FileQuotaStore(openCounts(location), onWarning);
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
  const { kind, message } = explainFault(path, cause, `the quota count ${path}`);
  if (kind !== "damaged" && kind !== "version") {
    return quotaUncounted(`in ${dirname(path)}: ${storeFault(cause)}`);
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

/**
 * Counts quotas in a small SQLite file per service, shared by all processes that use the folder. A
 * change is on disk before the requests it counts are sent. A killed process leaves its reservation
 * counted in full.
 */
class FileQuotaStore implements QuotaStore {
  #file: SqliteFile;
  readonly #onWarning: (message: string) => void;
  #isFailing = false;

  constructor(file: SqliteFile, onWarning: (message: string) => void) {
    this.#file = file;
    this.#onWarning = onWarning;
  }

  /** Null if another process holds the lock for too long, or the disk fails: no request is permitted. */
  change<T>(work: (counts: QuotaCounts) => T): T | null {
    const { path } = this.#file;
    try {
      // Deleting it starts from 0.
      if (!this.#file.isInPlace) this.#reopen();
      const file = this.#file;
      const changed = file.transact(() => {
        const counts = countsIn(file);
        const result = work(counts);
        file.write({ counts: counts.state });
        return result;
      });
      this.#isFailing = false;
      return changed;
    } catch (error) {
      const { kind, message } = explainFault(path, error, `the quota count ${path}`, "write");
      const until = kind === "damaged" ? "you delete the file" : "it can be written";
      if (!this.#isFailing) this.#onWarning(`${message}; sending nothing until ${until}`);
      this.#isFailing = true;
      return null;
    }
  }

  #reopen(): void {
    const file = SqliteFile.open(this.#file.path, "counts");
    this.#file.close();
    this.#file = file;
  }

  close(): void {
    this.#file.close();
  }
}
