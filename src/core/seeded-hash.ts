/**
 * Hashes a seed, a text and a number to 32 evenly distributed bits: FNV-1a over the text, then the
 * finaliser of MurmurHash3, without which similar texts would yield similar numbers.
 */
export function seededHash(seed: number, text: string, number = 0): number {
  let hash = (0x811c9dc5 ^ seed) >>> 0;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash ^= Math.imul(number, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
