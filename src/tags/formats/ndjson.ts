import type { AddressList } from "../address/address-list.js";
import { addressLines } from "./address-lines.js";
import type { ListFacts } from "./types.js";

/** One JSON object an address, with the members of the CSV form; `family` is 4 or 6. */
export function writeNdjson(list: AddressList, facts: ListFacts): Iterable<Uint8Array> {
  const { tag, snapshot, lastUpdate, exportedAt } = facts;
  const rest = JSON.stringify({
    tag,
    snapshot,
    last_update: lastUpdate,
    exported_at: exportedAt,
  }).slice(1);
  return addressLines(list, {
    v4: ['{"ip":"', `","family":4,${rest}\n`],
    v6: ['{"ip":"', `","family":6,${rest}\n`],
  });
}
