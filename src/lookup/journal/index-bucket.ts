/**
 * Entries of the index whose hashes begin alike, packed: eight bytes each, the hash and the sequence
 * number, 32 bits each, little endian. Later entries have higher sequence numbers.
 */
const entryBytes = 8;

/**
 * How many buckets there are. All of them are written anew each time that the newest entries move into
 * the file: with more of them, each shorter, that takes longer.
 */
export const buckets = 2 ** 13;

/** The bucket of a hash. */
export function bucketOf(hash: number): number {
  return hash >>> 19;
}

/** Length of a bucket with further entries behind. */
export function extendedLength(bytes: Buffer | undefined, hashes: Uint32Array): number {
  return (bytes?.length ?? 0) + hashes.length * entryBytes;
}

/**
 * The bucket's bytes with further entries behind.
 *
 * @param room where to put them, as long as `extendedLength` says
 */
export function extendBucket(
  room: Buffer,
  bytes: Buffer | undefined,
  hashes: Uint32Array,
  sequences: Uint32Array,
): Buffer {
  let at = 0;
  if (bytes) {
    room.set(bytes);
    at = bytes.length;
  }
  for (let i = 0; i < hashes.length; i++) {
    room.writeUInt32LE(hashes[i] as number, at);
    room.writeUInt32LE(sequences[i] as number, at + 4);
    at += entryBytes;
  }
  return room;
}

/** The highest sequence number that the bucket has for a hash; 0 for none. */
export function findInBucket(bytes: Buffer, hash: number): number {
  const low = hash & 0xff;
  for (let at = bytes.length - entryBytes; at >= 0; at -= entryBytes) {
    // Most others differ in their first byte.
    if (bytes[at] === low && bytes.readUInt32LE(at) === hash) return bytes.readUInt32LE(at + 4);
  }
  return 0;
}

/** Visits the hashes of a bucket. */
export function eachInBucket(bytes: Buffer, visit: (hash: number) => void): void {
  for (let at = 0; at < bytes.length; at += entryBytes) visit(bytes.readUInt32LE(at));
}
