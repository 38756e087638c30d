import { compareV6 } from "./address-list.js";

/** Parts this small are sorted by insertion, which is quicker than counting 256 bytes. */
const smallPart = 32;

/** Bytes of an address. */
const depths = 16;

/**
 * Sorts addresses of four words in place: radix sort by the most significant byte first, each part
 * permuted within itself ("American flag sort", McIlroy, Bostic and McIlroy, 1993). No second array
 * is needed, which for five million addresses would be 80 MB.
 */
export function sortV6(words: Uint32Array): void {
  // Where each byte's bucket is to be filled next and where it ends, for each depth.
  const next = Array.from({ length: depths }, () => new Uint32Array(256));
  const ends = Array.from({ length: depths }, () => new Uint32Array(256));

  const sortPart = (from: number, to: number, depth: number): void => {
    if (to - from <= smallPart) {
      insertionSort(words, from, to);
      return;
    }
    const word = depth >> 2;
    const shift = 24 - 8 * (depth & 3);
    const free = next[depth]!;
    const end = ends[depth]!;
    end.fill(0);
    for (let at = from; at < to; at++) end[(words[at * 4 + word]! >>> shift) & 255]!++;
    let start = from;
    for (let byte = 0; byte < 256; byte++) {
      free[byte] = start;
      start += end[byte]!;
      end[byte] = start;
    }
    for (let byte = 0; byte < 256; byte++) {
      while (free[byte]! < end[byte]!) {
        const at = free[byte]!;
        const home = (words[at * 4 + word]! >>> shift) & 255;
        if (home !== byte) swap(words, at, free[home]!);
        free[home]!++;
      }
    }
    if (depth + 1 === depths) return;
    let partStart = from;
    for (let byte = 0; byte < 256; byte++) {
      const partEnd = end[byte]!;
      if (partEnd - partStart > 1) sortPart(partStart, partEnd, depth + 1);
      partStart = partEnd;
    }
  };
  sortPart(0, words.length / 4, 0);
}

function insertionSort(words: Uint32Array, from: number, to: number): void {
  for (let sorted = from + 1; sorted < to; sorted++) {
    for (let at = sorted; at > from && compareV6(words, at - 1, words, at) > 0; at--) {
      swap(words, at - 1, at);
    }
  }
}

function swap(words: Uint32Array, i: number, j: number): void {
  for (let word = 0; word < 4; word++) {
    const held = words[i * 4 + word]!;
    words[i * 4 + word] = words[j * 4 + word]!;
    words[j * 4 + word] = held;
  }
}
