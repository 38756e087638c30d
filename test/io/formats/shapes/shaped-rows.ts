import { systemClock } from "../../../../src/core/clock.js";
import type { Item } from "../../../../src/core/item/item.js";
import type { EnrichedRow } from "../../../../src/core/row.js";
import type { EncoderOptions } from "../../../../src/io/formats/types.js";
import { anEnrichedRow, fullIpResult } from "../../../helpers/enriched-rows.js";

/** Encoder options with a fixed clock. */
export const options: EncoderOptions = {
  columns: ["ip"],
  prefix: "rep_",
  shape: "nested",
  clock: { ...systemClock, now: () => Date.parse("2026-05-06T07:08:09.000Z") },
};

/** A row with a full answer that accuses the item. */
export const maliciousRow = anEnrichedRow({}, { query: fullIpResult });

/** A row of an unknown item. */
export const unknownRow = anEnrichedRow(
  {},
  {
    query: {
      ...fullIpResult,
      intent: "none",
      serviceMailBlocklist: "NOT_LISTED",
      tags: [],
      firstSeen: null,
      lastSeen: null,
    },
  },
);

/** A row that only says that its item is malicious. */
export function accused(item: Item): EnrichedRow {
  return anEnrichedRow({ itemText: item.value }, { query: { intent: "malicious" } }, item);
}

/** Rows without an answer, one per status. */
export const unansweredRows: readonly EnrichedRow[] = [
  anEnrichedRow(
    { number: 1, itemText: "setup.exe" },
    {
      status: "unsupported",
      source: "local",
      lookedUpAt: null,
      error: { code: "file_name", message: "a file name" },
    },
    null,
  ),
  anEnrichedRow(
    { number: 2 },
    { status: "invalid", httpStatus: 400, error: { code: "invalid_item", message: "no" } },
  ),
  anEnrichedRow(
    { number: 3 },
    { status: "failed", httpStatus: 404, error: { code: "http_404", message: "not found" } },
  ),
];

export const items = {
  ipv4: { kind: "ip", value: "192.0.2.1" },
  ipv6: { kind: "ip", value: "2001:db8::1" },
  domain: { kind: "domain", value: "example.com" },
  url: { kind: "url", value: "https://example.com:8443/a?b=1#c" },
  sha1: { kind: "sha1", value: "da39a3ee5e6b4b0d3255bfef95601890afd80709" },
  email: { kind: "email", value: "o'neill\\x@example.org" },
  wallet: { kind: "crypto_wallet", value: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4" },
} as const satisfies Record<string, Item>;
