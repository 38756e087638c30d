import { hash } from "node:crypto";
import type { Item } from "../../../core/item/item.js";

/** Length of an item's digest: with 10^9 items, the probability of any collision is below 10^-20. */
const digestBytes = 16;

/** A set of items, in about 64 bytes each. */
export class KnownItems {
  size = 0;
  /** A Set holds at most 2^24 entries, so digests are spread over 256 sets by their first byte. */
  readonly #sets = Array.from({ length: 256 }, () => new Set<string>());

  /** Adds an item. @returns whether it is new */
  add({ kind, value }: Item): boolean {
    const digest = hash("sha256", `${kind} ${value}`, "buffer").subarray(0, digestBytes);
    const set = this.#sets[digest[0]!]!;
    const text = digest.toString("latin1");
    if (set.has(text)) return false;
    set.add(text);
    this.size++;
    return true;
  }
}
