/**
 * Hashes a seed, a text and a number to 32 bits, which decide on faults: the same request gets the
 * same fault in whatever order requests arrive. Uses FNV-1a over the text, then the finaliser of
 * MurmurHash3, without which similar texts would yield similar numbers.
 */
export function seededHash(seed: number, text: string, number: number): number {
  let hash = (0x811c9dc5 ^ seed) >>> 0;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return finalise(hash ^ Math.imul(number, 0x9e3779b1));
}

function finalise(hash: number): number {
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
