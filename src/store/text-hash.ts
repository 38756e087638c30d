/**
 * A number from 0 to 2^32 - 1 that spreads texts evenly (FNV-1a with the finalizer of MurmurHash3).
 * For tables that check what they find: different texts may have the same number.
 *
 * @param seed another one gives another number, for hashes of more than 32 bits
 */
export function textHash(text: string, seed = 0x811c9dc5): number {
  let hash = seed;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
