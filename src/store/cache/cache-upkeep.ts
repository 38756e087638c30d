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
import type { CacheUpkeep } from "./cache-stats.js";

/** The file keeps its size; freed space is reused for new entries. */
export const folderUpkeep: CacheUpkeep = { each, clear };

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

const batchSize = 512;

type NumberedRow = readonly [n: number, ...entries: (string | null)[]];

/** Visits all rows, one transaction per batch. */
async function each(
  folder: string,
  keeps: (entry: string) => boolean,
  signal?: AbortSignal,
): ReturnType<CacheUpkeep["each"]> {
  mustExist(folder);
  const bytes = cacheBytes(folder);
  try {
    const database = await openCacheFile(folder);
    if (database === null) return { folder, bytes };
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
          for (const row of rows) visit(database, row, keeps);
          return rows.at(-1)?.[0];
        });
        await turn();
      }
    } finally {
      closeDatabase(database);
    }
    return { folder, bytes };
  } catch (error) {
    if (error instanceof ReputeError || signal?.aborted === true) throw error;
    throw cacheFault(folder, "read", error);
  }
}

function visit(
  database: Database,
  [n, ...entries]: NumberedRow,
  keeps: (entry: string) => boolean,
): void {
  const kept = entries.map((entry) => (entry !== null && keeps(entry) ? entry : null));
  if (kept.every((entry) => entry === null)) {
    database.prepare("DELETE FROM answers WHERE n = ?").run(n);
  } else if (kept.some((entry, slot) => entry !== entries[slot])) {
    const changes = slotNames.map((column) => `${column} = ?`).join();
    database.prepare(`UPDATE answers SET ${changes} WHERE n = ?`).run(...kept, n);
  }
}

function mustExist(folder: string): void {
  if (hasCache(folder)) return;
  throw new UsageError("no_cache", `there is no cache in ${folder}`, {
    hint: "check the path; a run with --cache DIR creates it",
  });
}
