import { UsageError } from "../../core/errors.js";
import { storeFault } from "../store-fault.js";
import { MemoryQuotaStore } from "./quota-entries.js";
import { FileQuotaStore, quotaFolder, type QuotaLocation } from "./quota-file.js";
import type { QuotaStore } from "./quota.js";

/**
 * Counts a service's quotas in the user's state folder, or in memory without one.
 *
 * @throws UsageError `quota_uncounted` if the folder cannot be written
 */
export function openQuotas(location: QuotaLocation | null): QuotaStore {
  if (location === null) return new MemoryQuotaStore();
  try {
    return new FileQuotaStore(location);
  } catch (error) {
    throw quotaUncounted(`in ${quotaFolder(location.stateFolder)}: ${storeFault(error)}`);
  }
}

/** @param why a clause that follows "cannot count quotas" */
export function quotaUncounted(why: string): UsageError {
  return new UsageError("quota_uncounted", `cannot count quotas ${why}`, {
    hint: "set XDG_STATE_HOME to a folder that you can write; runs share their count there",
  });
}
