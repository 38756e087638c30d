import { Readable } from "node:stream";

/**
 * Applies `work` to several inputs at once and yields the results in input order, each as soon as it
 * and all before it are done. Leaving the loop early closes the input, once its next value is there.
 *
 * @param ahead how many inputs are worked on at once; a few more are read while nobody takes results
 * @throws the errors of the input and of `work`, each at its position
 */
export function inOrder<In, Out>(
  inputs: Iterable<In> | AsyncIterable<In>,
  work: (input: In) => Promise<Out>,
  ahead: number,
): AsyncIterable<Out> {
  const options = { concurrency: ahead, highWaterMark: 1 };
  return Readable.from(boxed(inputs)).map(({ input }: { input: In }) => work(input), options);
}

/** A stream takes null for its end. */
async function* boxed<In>(inputs: Iterable<In> | AsyncIterable<In>) {
  for await (const input of inputs) yield { input };
}
