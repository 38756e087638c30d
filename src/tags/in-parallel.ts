/**
 * Does some work for each of a source's items, `limit` of them at once and no more taken from the
 * source than that. What goes wrong with one ends all: `work` is told by its signal, and the fault
 * is thrown when all have ended.
 */
export async function inParallel<T>(
  source: Iterable<T> | AsyncIterable<T>,
  limit: number,
  signal: AbortSignal | undefined,
  work: (item: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const both = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
  const items = oneAtATime(source);
  const worker = async (): Promise<void> => {
    try {
      for (;;) {
        both.throwIfAborted();
        const next = await items.next();
        if (next.done) return;
        await work(next.value, both);
      }
    } catch (error) {
      stop.abort(error);
      throw error;
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: limit }, worker));
  await items.return?.();
  signal?.throwIfAborted();
  if (stop.signal.aborted) throw stop.signal.reason;
  const failed = ends.find((end) => end.status === "rejected");
  if (failed) throw failed.reason;
}

/** Not every iterator can be asked for the next item before it has given the one before. */
async function* oneAtATime<T>(source: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T, void> {
  yield* source;
}
