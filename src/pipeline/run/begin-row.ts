import type { Finding, FindingError, FindingStatus } from "../../core/finding.js";
import type { Item, ItemKind, Recognition } from "../../core/item/item.js";
import { unsupportedReasons } from "../../core/item/reasons.js";
import type { Row } from "../../core/row.js";
import type { Lookup } from "../../lookup/types.js";

/** What a row begins with: its item, and its finding or the promise of one. */
interface BegunRow {
  readonly item: Item | null;
  readonly finding: Finding | Promise<Finding>;
}

export type BeginRow = (row: Row, signal: AbortSignal) => BegunRow;

export interface BeginRowOptions {
  readonly recognise: (text: string, kind: ItemKind | null) => Recognition;
  readonly parseKind: (text: string) => ItemKind | null;
  readonly lookup: Lookup;
}

/** Recognises a row's item and begins its lookup; a row without one is settled at once. */
export function beginRow({ recognise, parseKind, lookup }: BeginRowOptions): BeginRow {
  return (row, signal) => {
    if (row.fault !== null) return { item: null, finding: unasked("failed", row.fault) };
    if (row.itemNotText === true) return { item: null, finding: unasked("unsupported", notText) };
    const kind = row.kindText === "" ? null : parseKind(row.kindText);
    const { item, reason } = recognise(row.itemText, kind);
    if (item === null) return { item, finding: unasked("unsupported", reason) };
    return { item, finding: lookup(item, { signal, row: row.number }) };
  };
}

const notText: FindingError = {
  code: "not_text",
  message: unsupportedReasons.not_text,
};

/** A finding of a row for which nothing was asked. */
function unasked(status: FindingStatus, error: FindingError): Finding {
  return {
    status,
    query: null,
    quickCheck: null,
    missing: [],
    source: "local",
    httpStatus: null,
    attempts: 0,
    lookedUpAt: null,
    error,
  };
}
