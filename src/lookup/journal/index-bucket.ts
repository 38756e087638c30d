/**
 * Entries of the index whose hashes begin alike, packed: six bytes each, little endian, the rest of
 * the hash (16 bits) and the sequence number (32 bits). Later entries have higher sequence numbers.
 */
const entryBytes = 6;

/** How many buckets there are. */
export const buckets = 2 ** 16;

/** The bucket of a hash. */
export function bucketOf(hash: number): number {
  return hash >>> 16;
}

/** The bucket's bytes with further entries behind. */
export function extendBucket(
  bytes: Buffer | undefined,
  hashes: Uint32Array,
  sequences: Uint32Array,
): Buffer {
  const before = bytes?.length ?? 0;
  const extended = Buffer.allocUnsafe(before + hashes.length * entryBytes);
  if (bytes) extended.set(bytes);
  let at = before;
  for (let i = 0; i < hashes.length; i++) {
    extended.writeUInt16LE((hashes[i] as number) & 0xffff, at);
    extended.writeUInt32LE(sequences[i] as number, at + 2);
    at += entryBytes;
  }
  return extended;
}

/** The highest sequence number that the bucket has for a hash; 0 for none. */
export function findInBucket(bytes: Buffer, hash: number): number {
  const low = hash & 0xff;
  const high = (hash >>> 8) & 0xff;
  for (let at = bytes.length - entryBytes; at >= 0; at -= entryBytes) {
    if (bytes[at] === low && bytes[at + 1] === high) return bytes.readUInt32LE(at + 2);
  }
  return 0;
}

/** Visits the hashes of a bucket. */
export function eachInBucket(bucket: number, bytes: Buffer, visit: (hash: number) => void): void {
  for (let at = 0; at < bytes.length; at += entryBytes) {
    visit(((bucket << 16) | bytes.readUInt16LE(at)) >>> 0);
  }
}
