import { accusationIn, type Finding, verdictOf } from "../../core/finding.js";
import type { StoredFinding } from "../store.js";

/** What decides when the expired answers about an item are asked for again. */
export interface ExpiredRank {
  /** Whether their verdict speaks against the item. */
  readonly accused: boolean;
  /** When the oldest of them was stored, in milliseconds since 1970. */
  readonly storedAt: number;
}

/** The rank of an item by its expired answers; null without any. */
export function expiredRank(expired: readonly StoredFinding[]): ExpiredRank | null {
  const [first] = expired;
  if (first === undefined) return null;
  const all = expired.map(({ finding }) => finding.answers);
  const answers = Object.assign({}, ...all) as Finding["answers"];
  return {
    accused: accusationIn(verdictOf({ ...first.finding, answers })) !== null,
    storedAt: Math.min(...expired.map(({ storedAt }) => storedAt)),
  };
}
