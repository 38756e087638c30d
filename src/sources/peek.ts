/** The first bytes of an input, and all of its chunks again, the peeked ones included. */
export interface Peeked {
  readonly head: Buffer;
  readonly chunks: AsyncGenerator<Buffer>;
}

/**
 * Reads chunks until `enough` says so or the input ends. Never reads on for more than it needs:
 * behind the input may be a person or a `tail -f`.
 */
export async function peek(
  chunks: AsyncGenerator<Buffer>,
  enough: (head: Buffer) => boolean,
): Promise<Peeked> {
  let head: Buffer = Buffer.alloc(0);
  while (!enough(head)) {
    const next = await chunks.next();
    if (next.done === true) break;
    head = head.length === 0 ? next.value : Buffer.concat([head, next.value]);
  }
  return { head, chunks: replay(head, chunks) };
}

async function* replay(head: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  yield* rest;
}
