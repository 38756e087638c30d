import { join } from "node:path";
import { UsageError } from "../../core/errors.js";
import type { Rate } from "../../core/options.js";
import { storeFault } from "../store-fault.js";
import { entriesOf, emptyCounts, type QuotaCounts } from "./quota-file.js";
import { FolderQuotaStore, readQuotaCounts } from "./folder-quota-store.js";
import { quotaName } from "./quota.js";
import { type QuotaStore, reserveFrom, spentOf } from "./quota-store.js";

export interface QuotaLocation {
  /** Address of the service whose quotas are counted. */
  readonly service: string;
  /** The user's state folder (XDG_STATE_HOME). */
  readonly stateFolder: string;
  /** Called about damage, and while the count cannot be written. */
  readonly onWarning: (message: string) => void;
}

/** Folder of the quota counts in the state folder. */
function quotaFolderIn(stateFolder: string): string {
  return join(stateFolder, "quota");
}

/**
 * Counts a service's quotas in the user's state folder.
 *
 * @throws UsageError `quota_uncounted` if the folder cannot be written
 */
export function openQuotas({ service, stateFolder, onWarning }: QuotaLocation): QuotaStore {
  const folder = quotaFolderIn(stateFolder);
  const store = new FolderQuotaStore({ folder, service, onWarning });
  try {
    store.check();
  } catch (error) {
    throw quotaUncounted(`in ${folder}: ${storeFault(error)}`);
  }
  return store;
}

/** @param why a clause that follows "cannot count quotas" */
export function quotaUncounted(why: string): UsageError {
  return new UsageError("quota_uncounted", `cannot count quotas ${why}`, {
    hint: "set XDG_STATE_HOME to a folder that you can write; runs share their count there",
  });
}

/** Returns a function that tells how much of each quota is spent, according to the state folder. */
export function readSpent(
  place: QuotaLocation,
): (scope: string, rate: Rate, nowMs: number) => number {
  const counts = readSaved(place);
  return (scope, rate, nowMs) =>
    spentOf(entriesOf(counts, quotaName(scope, rate)), { rate, nowMs });
}

/** Returns a function that tells when each quota allows the next request, `nowMs` for at once. */
export function readFree(
  place: QuotaLocation,
): (scope: string, rate: Rate, nowMs: number) => number {
  const counts = readSaved(place);
  return (scope, rate, nowMs) => {
    const entries = entriesOf(counts, quotaName(scope, rate));
    const options = { rate, want: 1, nowMs, untilMs: nowMs };
    const { permits, nextAtMs } = reserveFrom(entries, options, "").reservation;
    return permits > 0 ? nowMs : nextAtMs;
  };
}

function readSaved({ service, stateFolder, onWarning }: QuotaLocation): QuotaCounts {
  const folder = quotaFolderIn(stateFolder);
  try {
    return readQuotaCounts({ folder, service, onWarning });
  } catch (error) {
    onWarning(`cannot read the quota count in ${folder}: ${storeFault(error)}`);
    return emptyCounts;
  }
}
