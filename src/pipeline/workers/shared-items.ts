import type { Item } from "../../core/item/item.js";
import { textHash } from "../../store/cache/cache-key.js";

/** Slots of the table; a power of two. */
const slots = 2 ** 22;

/** Name of the marks in the work folder. */
export const marksName = "shared-items";

/**
 * Marks the items that several chunks have. Memory is fixed; different items of a slot are marked
 * too, and cost a message each.
 */
export class SharedItems {
  readonly #chunkOf = new Uint32Array(slots);
  readonly marks = Buffer.alloc(slots / 8);

  add(item: Item, chunk: number): void {
    const slot = slotOf(item);
    const known = this.#chunkOf[slot]!;
    if (known === 0) this.#chunkOf[slot] = chunk + 1;
    else if (known !== chunk + 1) this.marks[slot >> 3]! |= 1 << (slot & 7);
  }
}

/** Whether an item may be in several chunks. */
export function isMarked(marks: Buffer, item: Item): boolean {
  const slot = slotOf(item);
  return (marks[slot >> 3]! & (1 << (slot & 7))) !== 0;
}

function slotOf({ kind, value }: Item): number {
  return textHash(`${kind} ${value}`) & (slots - 1);
}
