import type { Item } from "../../core/item/item.js";
import { textHash } from "../../store/cache/cache-key.js";

/** Places of the table of items, and of marks; powers of two. */
const places = 2 ** 23;
const marked = 2 ** 25;

/** How far from its place an item may be. */
const reach = 8;

/** The last number of a chunk that fits; items of later chunks are always marked. */
const lastChunk = 0xffff;

/** Name of the marks in the work folder. */
export const marksName = "shared-items";

/**
 * Marks the items that several chunks have. Memory is fixed; with more than seven million items, some
 * others are marked too, and cost a message each.
 */
export class SharedItems {
  /** The upper half of an item's hash, and its chunk; 0 if the place is free. */
  readonly #items = new Uint32Array(places);
  readonly marks = Buffer.alloc(marked / 8);

  add(item: Item, chunk: number): void {
    const text = textOf(item);
    const hash = textHash(text);
    const upper = (hash & 0xffff0000) >>> 0;
    const number = Math.min(chunk + 1, lastChunk);
    for (let n = 0; n < reach; n++) {
      const place = (hash + n) & (places - 1);
      const known = this.#items[place]!;
      if (known === 0) {
        this.#items[place] = upper + number;
        return;
      }
      if ((known & 0xffff0000) >>> 0 !== upper) continue;
      if (known !== upper + number || number === lastChunk) this.#mark(text);
      return;
    }
    this.#mark(text);
  }

  #mark(text: string): void {
    const at = markOf(text);
    this.marks[at >> 3]! |= 1 << (at & 7);
  }
}

/** Whether an item may be in several chunks. */
export function isMarked(marks: Buffer, item: Item): boolean {
  const at = markOf(textOf(item));
  return (marks[at >> 3]! & (1 << (at & 7))) !== 0;
}

function textOf({ kind, value }: Item): string {
  return `${kind} ${value}`;
}

/** Another hash than that of the table: marks of one item should not hit its neighbours there. */
function markOf(text: string): number {
  return textHash(text, 0x5bd1e995) & (marked - 1);
}
