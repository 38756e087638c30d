/**
 * 32 bits that depend on nothing but the seed, the text and the number: what decides on a fault, so
 * that the same request meets the same fault in whatever order requests arrive. FNV-1a over the
 * text, then the finaliser of MurmurHash3, without which similar texts would draw similar numbers.
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
