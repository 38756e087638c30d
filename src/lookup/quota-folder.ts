import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Database } from "lmdb";
import { FatalError } from "../core/errors.js";
import { makeFolder } from "../core/make-folder.js";
import { lmdbDamage } from "./cache/lmdb-check.js";
import { open } from "./lmdb.js";
import { throughGateSync } from "./lmdb-gate.js";
import {
  type QuotaEntries,
  type QuotaEntry,
  type QuotaStore,
  reserveFrom,
  settleIn,
} from "./quota-store.js";

/**
 * Quotas counted in a folder, for all processes that share it and across runs. Every change is one
 * transaction behind a gate. A process that is killed leaves its reservation counted in full, so
 * that the count errs on the safe side.
 *
 * @throws FatalError `quota_unavailable` when the folder cannot be read or written, `quota_damaged`
 *   when what it holds is no count: to begin anew might exceed the quota, so that is for a person
 */
export async function openQuotaStore(folder: string): Promise<QuotaStore> {
  const damage = await lmdbDamage(join(folder, "data.mdb"));
  if (damage !== null) {
    throw new FatalError(
      "quota_damaged",
      `the count of the quota in ${folder} is damaged: ${damage}`,
      {
        hint: "remove that folder to count from 0; what was asked of late is not counted then",
      },
    );
  }
  const gated = <T>(action: () => T): T => attempt(folder, () => throughGateSync(folder, action));
  attempt(folder, () => makeFolder(folder, 0o700));
  const names = gated(() =>
    open<Record<string, QuotaEntry>, string>({
      path: folder,
      noSubdir: false,
      encoding: "json",
      overlappingSync: false,
    }),
  );
  const change = <T>(name: string, apply: (entries: QuotaEntries) => T): T =>
    gated(() =>
      names.transactionSync(() => {
        const entries: QuotaEntries = new Map(Object.entries(names.get(name) ?? {}));
        const result = apply(entries);
        names.putSync(name, Object.fromEntries(entries));
        return result;
      }),
    );
  return {
    reserve: (name, options) =>
      change(name, (entries) => reserveFrom(entries, options, randomUUID())),
    settle: (name, id, used, nowMs) =>
      change(name, (entries) => settleIn(entries, id, used, nowMs)),
    close: () => closeGated(folder, names),
  };
}

/** What was counted is written: a gate that cannot be passed is no reason to fail. */
async function closeGated(folder: string, names: Database): Promise<void> {
  try {
    // Nothing is being written, so that it is closed when the call returns.
    await throughGateSync(folder, () => names.close());
  } catch {
    await names.close();
  }
}

function attempt<T>(folder: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw new FatalError(
      "quota_unavailable",
      `cannot count the quota in ${folder}: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}
