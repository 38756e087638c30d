import { setImmediate as turn } from "node:timers/promises";
import { type Database, transact } from "../sqlite.js";
import { isBusy } from "../store-fault.js";
import { answerKinds, entryParts, entryTime, lifetimeMs } from "./cache-entry.js";
import { slotNames } from "./cache-file.js";

const dayMs = 86_400_000;

/** Rows per transaction; other processes write in between. */
const batchRows = 5_000;

/**
 * Deletes expired answers, at most once a day. What the run with the longest TTL since the last time
 * would use stays. The file keeps its size; new answers reuse the space.
 *
 * @param ttlMs lifetime of full answers in milliseconds
 * @param now milliseconds since 1970
 * @throws the SQLite error
 */
export async function pruneCache(database: Database, ttlMs: number, now: number): Promise<void> {
  try {
    const longest = longestTtl(database, ttlMs, now);
    if (longest === null) return;
    const { first, last } = database.prepare(range).get() as Record<"first" | "last", number>;
    const rows = `DELETE FROM answers WHERE n BETWEEN ? AND ? AND NOT (${fresh(longest, now)})`;
    const remove = database.prepare(rows);
    for (let n = first; n <= last; n += batchRows) {
      transact(database, () => remove.run(n, n + batchRows - 1));
      await turn();
    }
  } catch (error) {
    // Another process holds the lock; pruning can wait for another day.
    if (!isBusy(error)) throw error;
  }
}

const range = "SELECT coalesce(min(n), 0) first, coalesce(max(n), -1) last FROM answers";

/** The longest TTL since the last pruning, which becomes now; null if that was less than a day ago. */
function longestTtl(database: Database, ttlMs: number, now: number): number | null {
  const select = database.prepare("SELECT pruned_at, longest_ttl FROM upkeep");
  const read = () => select.get() as Record<"pruned_at" | "longest_ttl", number>;
  const isRecent = ({ pruned_at }: ReturnType<typeof read>) => Math.abs(now - pruned_at) < dayMs;
  const before = read();
  if (isRecent(before) && ttlMs <= before.longest_ttl) return null;
  return transact(database, () => {
    const upkeep = read();
    const longest = Math.max(ttlMs, upkeep.longest_ttl);
    const next = isRecent(upkeep) ? [upkeep.pruned_at, longest] : [now, ttlMs];
    database.prepare("UPDATE upkeep SET pruned_at = ?, longest_ttl = ?").run(...next);
    return isRecent(upkeep) ? null : longest;
  });
}

/** Whether a row has an answer that a run would use: see `isFresh`. */
function fresh(ttlMs: number, now: number): string {
  const part = (slot: string, { from, to }: { readonly from: number; readonly to: number }) =>
    `substr(${slot}, ${from + 1}, ${to - from})`;
  const conditions = slotNames.flatMap((slot) =>
    answerKinds.map((kind) => {
      const [lifetime, time] = [lifetimeMs(kind, ttlMs), part(slot, entryParts.time)];
      const [after, before] = [now - lifetime, now + lifetime].map(entryTime);
      const is = `${part(slot, entryParts.kind)} = '${kind.charAt(0)}'`;
      return `(${slot} IS NOT NULL AND ${is} AND ${time} > '${after}' AND ${time} < '${before}')`;
    }),
  );
  return conditions.join(" OR ");
}
