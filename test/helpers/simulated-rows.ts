import type { Row } from "../../src/core/row.js";
import { moveRows } from "../../src/jobs/enrich/rows/move-rows.js";
import { RunSignals } from "../../src/jobs/enrich/run-signals.js";
import type { Tally } from "../../src/jobs/enrich/tally.js";
import { type LookupStore, MemoryStore } from "../../src/client/store/store.js";
import type { RowSource } from "../../src/jobs/enrich/types.js";
import { endpointOf } from "../../src/client/lookup/attempt/journalled.js";

/** Reads the input in advance: real reading takes no simulated time. */
export async function allRows(from: RowSource): Promise<readonly (readonly Row[])[]> {
  const source = await from.open(null);
  const batches: (readonly Row[])[] = [];
  for await (const batch of source.rows) batches.push(batch);
  await source.close();
  return batches;
}

/** A store in memory that counts its records like the journal of a run. */
export function countingStore(tally: Tally): LookupStore {
  const store = new MemoryStore();
  return {
    get: (key) => store.get(key),
    put(key, record) {
      tally.journalled(endpointOf(key), record);
      return store.put(key, record);
    },
    sync: () => store.sync(),
    close: () => store.close(),
  };
}

type SimulatedMove = Pick<
  Parameters<typeof moveRows>[0],
  "start" | "sink" | "tally" | "clock" | "concurrency" | "slots"
>;

/** Moves rows as a run does, in order. */
export async function moveBatches(
  batches: readonly (readonly Row[])[],
  options: SimulatedMove,
): Promise<void> {
  const signals = new RunSignals({ signal: new AbortController().signal, settings: { run: {} } });
  async function* rows(): AsyncGenerator<readonly Row[]> {
    yield* batches;
  }
  await moveRows({
    ...options,
    source: { rows: rows() },
    signals,
    written: 0,
    startOffset: 0,
    onRead: () => undefined,
    onWritten: () => Promise.resolve(),
  });
  signals.close();
}
