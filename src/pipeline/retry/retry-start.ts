import type { Lookup } from "../../lookup/types.js";
import type { StartRow } from "../run/reading.js";
import { type EarlierRow, isNoWorse, shouldRetry } from "./earlier-record.js";

/** Looks up the failed and partial rows of an earlier output; a worse answer changes nothing. */
export function retryStart(lookup: Lookup): StartRow {
  return (row, signal) => {
    const { item, earlier } = row as EarlierRow;
    if (item === null || !shouldRetry(row as EarlierRow)) return { item, finding: earlier };
    const asked = lookup(item, { signal, row: row.number });
    return { item, finding: asked.then((now) => (isNoWorse(earlier, now) ? now : earlier)) };
  };
}
