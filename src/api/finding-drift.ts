import type { Finding } from "../core/finding.js";
import type { Item } from "../core/item/item.js";
import { itemDiffers } from "./answer-match.js";
import { driftOf } from "./schema/drift.js";

/**
 * A finding with the values of its result that the interface does not list, as `member=value`, and
 * `item_differs` where the result names another item but is used all the same.
 */
export function withDrift(item: Item, finding: Finding): Finding {
  const result = finding.query ?? finding.quickCheck;
  if (result === null) return finding;
  const drift = driftOf(result);
  if (itemDiffers(item.value, result["item"]))
    return { ...finding, drift: [...drift, "item_differs"] };
  return drift.length === 0 ? finding : { ...finding, drift };
}
