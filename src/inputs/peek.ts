import type { Pauses } from "./pauses.js";

/** The first bytes of an input, and all of its chunks again, the peeked ones included. */
interface Peeked {
  readonly head: Buffer;
  readonly chunks: AsyncGenerator<Buffer>;
}

/**
 * Reads chunks until `enough` says so or the input ends. Never reads on for more than it needs:
 * behind the input may be a person or a `tail -f`.
 *
 * @param pauses when given, a pause of the input ends it as well, once a line is complete
 */
export async function peek(
  chunks: AsyncGenerator<Buffer>,
  enough: (head: Buffer) => boolean,
  pauses: Pauses | null = null,
): Promise<Peeked> {
  let head: Buffer = Buffer.alloc(0);
  while (!enough(head)) {
    const next = chunks.next();
    if (pauses !== null && head.includes(lineFeed) && (await pauses.before(next))) {
      return { head, chunks: replay(head, next, chunks) };
    }
    const step = await next;
    if (step.done === true) break;
    head = head.length === 0 ? step.value : Buffer.concat([head, step.value]);
  }
  return { head, chunks: replay(head, null, chunks) };
}

const lineFeed = 0x0a;

async function* replay(
  head: Buffer,
  pending: Promise<IteratorResult<Buffer>> | null,
  rest: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  const step = await pending;
  if (step !== null && step.done !== true) yield step.value;
  yield* rest;
}
