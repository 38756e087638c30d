import type { ExpiredRank } from "../../store/cache/expired-rank.js";

/** What a run asks for together. */
const partNames = ["expired_with_verdict", "expired", "rest"] as const;

type PartName = (typeof partNames)[number];

/** A part of what a run asks for. The parts follow each other. */
export interface PlannedPart {
  /** `all`: in input order, without parts. */
  readonly part: PartName | "all";
  /** Items that need requests, and the requests: at most, under triage. */
  readonly items: number;
  readonly requests: number;
  /** The items whose requests the budget covers in full. */
  readonly covered_items: number;
  /** When the oldest and the newest expired answer were stored, RFC 3339 UTC; null without one. */
  readonly oldest: string | null;
  readonly newest: string | null;
  /** When the newest of the covered answers was stored; null for none. */
  readonly covered_until: string | null;
}

/**
 * The order in which a run asks for items, with their requests. Takes 1 byte for each item, and with
 * expired answers apart 8 more.
 */
export class PlannedOrder {
  readonly #isWorstFirst: boolean;
  /** For each item in input order: its requests, and its part in the upper bits. */
  #items = new Uint8Array(1024);
  /** When the expired answer of each item was stored. */
  #storedAt = new Float64Array(0);
  #count = 0;

  constructor(isWorstFirst: boolean) {
    this.#isWorstFirst = isWorstFirst;
  }

  /** Takes the place of the next item. */
  next(): number {
    if (this.#count === this.#items.length) {
      const items = new Uint8Array(2 * this.#count);
      items.set(this.#items);
      this.#items = items;
    }
    return this.#count++;
  }

  /** Sets what the item in a place costs. */
  set(place: number, requests: number, expired: ExpiredRank | null): void {
    const isApart = expired !== null && this.#isWorstFirst;
    const name = isApart ? (expired.accused ? "expired_with_verdict" : "expired") : "rest";
    this.#items[place] = requests | (partNames.indexOf(name) << partBits);
    if (!isApart) return;
    if (this.#storedAt.length < this.#items.length) {
      const storedAt = new Float64Array(this.#items.length);
      storedAt.set(this.#storedAt);
      this.#storedAt = storedAt;
    }
    this.#storedAt[place] = expired.storedAt;
  }

  /**
   * The parts, one after the other.
   *
   * @param budget the most requests; null for no limit
   */
  parts(budget: number | null): readonly PlannedPart[] {
    let left = budget ?? Number.POSITIVE_INFINITY;
    return partNames
      .filter((name) => this.#isWorstFirst || name === "rest")
      .map((name) => {
        const places = this.#placesIn(name);
        const { requests, covered } = this.#covered(places, left);
        left -= Math.min(left, requests);
        const time = (at: number): string | null =>
          name === "rest" ? null : timeText(this.#storedAt[places[at] ?? -1]);
        return {
          part: this.#isWorstFirst ? name : "all",
          items: places.length,
          requests,
          covered_items: covered,
          oldest: time(0),
          newest: time(places.length - 1),
          covered_until: time(covered - 1),
        };
      });
  }

  /** The places of a part's items that need requests, in the order in which they are asked for. */
  #placesIn(name: PartName): Uint32Array {
    const at = partNames.indexOf(name);
    const places = new Uint32Array(this.#count);
    let length = 0;
    for (let place = 0; place < this.#count; place++) {
      const item = this.#items[place]!;
      if (item >> partBits === at && (item & costMask) > 0) places[length++] = place;
    }
    const found = places.subarray(0, length);
    const storedAt = (place: number): number => this.#storedAt[place] ?? 0;
    if (name !== "rest") found.sort((one, other) => storedAt(one) - storedAt(other) || one - other);
    return found;
  }

  /** The requests of the items in these places, and how many items a budget covers in full. */
  #covered(places: Uint32Array, budget: number): { requests: number; covered: number } {
    let requests = 0;
    let covered = 0;
    for (const place of places) {
      requests += this.#items[place]! & costMask;
      if (requests <= budget) covered++;
    }
    return { requests, covered };
  }
}

function timeText(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}

/** Lower bits hold the requests of an item: one for each endpoint. */
const partBits = 4;
const costMask = 2 ** partBits - 1;
