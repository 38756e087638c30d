/**
 * Records lie in the database in blocks: a value of its own for each of millions costs the tree more
 * than the records themselves. A record's sequence number says its block and its slot there; a block
 * may have fewer records than slots, and the numbers of the others are not given. In a block each
 * record follows its length, 32 bits, little endian.
 */
export const slots = 16;

/** A block with so many bytes takes no further record. */
export const largeBlock = 256 * 1024;

export const lengthBytes = 4;

export function blockOf(sequence: number): number {
  return Math.floor(sequence / slots);
}

/** The first sequence number from this one on that begins a block. */
export function nextBlockStart(sequence: number): number {
  return Math.ceil(sequence / slots) * slots;
}

/** A block's record by its sequence number. */
export function recordIn(block: Buffer, sequence: number): Buffer | undefined {
  let at = 0;
  for (let slot = sequence % slots; slot > 0 && at < block.length; slot--) {
    at += lengthBytes + block.readUInt32LE(at);
  }
  if (at >= block.length) return undefined;
  const start = at + lengthBytes;
  return block.subarray(start, start + block.readUInt32LE(at));
}

/** Visits records that follow one another, as in a block. */
export function eachRecordIn(
  first: number,
  bytes: Buffer,
  visit: (sequence: number, record: Buffer) => void,
): void {
  let sequence = first;
  for (let at = 0; at < bytes.length; sequence++) {
    const start = at + lengthBytes;
    at = start + bytes.readUInt32LE(at);
    visit(sequence, bytes.subarray(start, at));
  }
}
