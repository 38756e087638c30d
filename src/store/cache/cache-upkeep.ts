import { setImmediate as turn } from "node:timers/promises";
import { ReputeError, UsageError } from "../../core/errors.js";
import { closeDatabase, type Database, transact } from "../sqlite.js";
import {
  cacheBytes,
  cacheFault,
  slotNames,
  hasCache,
  openCacheFile,
  removeCache,
} from "./cache-file.js";
import {
  CacheCounts,
  type CacheStats,
  type CacheUpkeep,
  isUsed,
  type UpkeepOptions,
} from "./cache-stats.js";

export const folderUpkeep: CacheUpkeep = { stats, prune, clear };

async function stats(folder: string, options: UpkeepOptions): Promise<CacheStats> {
  const counts = new CacheCounts();
  await eachBatch(folder, options, (_database, rows) => {
    for (const entry of rows.flatMap(([, ...entries]) => entries)) {
      if (entry !== null) counts.add(entry, options);
    }
  });
  return counts.stats(folder, cacheBytes(folder));
}

/** The file keeps its size; freed space is reused for new entries. */
async function prune(folder: string, options: UpkeepOptions): ReturnType<CacheUpkeep["prune"]> {
  let [removed, kept] = [0, 0];
  const changes = slotNames.map((column) => `${column} = ?`).join();
  await eachBatch(folder, options, (database, rows) => {
    const update = database.prepare(`UPDATE answers SET ${changes} WHERE n = ?`);
    const remove = database.prepare("DELETE FROM answers WHERE n = ?");
    for (const [n, ...entries] of rows) {
      const before = entries.filter((entry) => entry !== null).length;
      const after = entries.filter((entry) => isUsed(entry, options)).length;
      removed += before - after;
      kept += after;
      if (after === 0) remove.run(n);
      else if (after < before)
        update.run(...entries.map((each) => (isUsed(each, options) ? each : null)), n);
    }
  });
  return { folder, removed, kept };
}

/** Runs that use the cache continue without it. */
async function clear(folder: string): ReturnType<CacheUpkeep["clear"]> {
  mustExist(folder);
  const bytes = cacheBytes(folder);
  try {
    removeCache(folder);
  } catch (error) {
    throw cacheFault(folder, "write", error);
  }
  return { folder, bytes };
}

/** Rows per transaction. */
const batchSize = 512;

type NumberedRow = readonly [n: number, ...entries: (string | null)[]];

/** Visits all rows, one transaction per batch. */
async function eachBatch(
  folder: string,
  { signal }: UpkeepOptions,
  visit: (database: Database, rows: readonly NumberedRow[]) => void,
): Promise<void> {
  mustExist(folder);
  try {
    const database = await openCacheFile(folder);
    if (database === null) return;
    try {
      const select = database.prepare(
        `SELECT n, ${slotNames.join()} FROM answers WHERE n > ? ORDER BY n LIMIT ${batchSize}`,
      );
      select.setReturnArrays(true);
      for (let last: number | undefined = Number.MIN_SAFE_INTEGER; last !== undefined;) {
        signal?.throwIfAborted();
        const behind: number = last;
        last = transact(database, () => {
          const rows = select.all(behind) as unknown as readonly NumberedRow[];
          visit(database, rows);
          return rows.at(-1)?.[0];
        });
        await turn();
      }
    } finally {
      closeDatabase(database);
    }
  } catch (error) {
    if (error instanceof ReputeError || signal?.aborted === true) throw error;
    throw cacheFault(folder, "read", error);
  }
}

function mustExist(folder: string): void {
  if (hasCache(folder)) return;
  throw new UsageError("no_cache", `there is no cache in ${folder}`, {
    hint: "check the path; a run with --cache DIR creates it",
  });
}
