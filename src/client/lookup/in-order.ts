/**
 * Applies `work` to several inputs at once and yields the results in input order, each as soon as it
 * and all before it are done. Reads at most `ahead` inputs ahead, so that results don't pile up in
 * front of a slow consumer.
 *
 * Leaving the loop early closes the input, as `for await` does. Work in progress is not awaited.
 *
 * @param ahead maximum number of results started and not yet consumed, at least 1
 * @throws the errors of the input and of `work`, each at its position
 */
export async function* inOrder<In, Out>(
  inputs: Iterable<In> | AsyncIterable<In>,
  work: (input: In) => Promise<Out>,
  ahead: number,
): AsyncGenerator<Out, void, undefined> {
  const iterator =
    Symbol.asyncIterator in inputs ? inputs[Symbol.asyncIterator]() : inputs[Symbol.iterator]();
  const begun: Promise<{ readonly result: Out }>[] = [];
  let reading: Promise<Read<In>> | null = null;
  let ended = false;
  try {
    for (;;) {
      if (!ended && begun.length < ahead) reading ??= readNext(iterator);
      const waited = [...begun.slice(0, 1), ...(reading === null ? [] : [reading])];
      if (waited.length === 0) return;
      const next = await Promise.race(waited);
      if ("result" in next) {
        void begun.shift();
        yield next.result;
        continue;
      }
      reading = null;
      ended = "fault" in next || next.read.done === true;
      if ("fault" in next) begun.push(Promise.reject(next.fault));
      else if (next.read.done !== true) begun.push(work(next.read.value).then(asResult));
      // Rethrown at its position.
      begun.at(-1)?.catch(() => undefined);
    }
  } finally {
    const closing = ended ? null : Promise.resolve(iterator.return?.());
    // Closing would wait for the input's next value.
    if (reading === null) await closing;
    else closing?.catch(() => undefined);
  }
}

type Read<In> = { readonly read: IteratorResult<In> } | { readonly fault: unknown };

async function readNext<In>(iterator: Iterator<In> | AsyncIterator<In>): Promise<Read<In>> {
  try {
    return { read: await iterator.next() };
  } catch (fault) {
    return { fault };
  }
}

function asResult<Out>(result: Out): { readonly result: Out } {
  return { result };
}
