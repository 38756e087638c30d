/**
 * Does the work for every item, several at a time, and hands the results on in the order of the
 * items, each as soon as it and all before it are there.
 *
 * @param most items between being taken and being handed on
 * @throws what an item's work or the handing on failed with; no further item is taken then
 */
export async function inOrder<T, R>(
  items: Iterable<T> | AsyncIterable<T>,
  most: number,
  work: (item: T) => Promise<R>,
  handOn: (result: R) => Promise<void> | void,
): Promise<void> {
  const open: Promise<void>[] = [];
  let last = Promise.resolve();
  for await (const item of items) {
    const before = last;
    const result = work(item);
    // A failure is reported at its turn; until then it must not count as unhandled.
    result.catch(() => undefined);
    last = before.then(async () => handOn(await result));
    last.catch(() => undefined);
    open.push(last);
    if (open.length >= most) await open.shift();
  }
  await last;
}
