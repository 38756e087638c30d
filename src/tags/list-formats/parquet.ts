import type { TypedColumn } from "../../formats/typed-column.js";
import { loadDriver } from "../../core/load-driver.js";
import { RowGroupEncoder, type ParquetDriver } from "../../formats/row-group-encoder.js";
import type { AddressList } from "../address/address-list.js";
import { addressTexts } from "../address/address-text.js";
import { families } from "./address-lines.js";
import type { ListMetadata } from "./types.js";

/** Rows held as text at a time. */
const groupRows = 50_000;

/** The same columns as CSV. */
const columns: readonly TypedColumn[] = [
  { name: "ip", type: "text", nullable: false },
  { name: "family", type: "count", nullable: false },
  { name: "tag", type: "text", nullable: false },
  { name: "snapshot", type: "text", nullable: false },
  { name: "last_update", type: "text", nullable: false },
  { name: "exported_at", type: "timestamp", nullable: false },
];

/** Parquet with one row per address, in row groups so that memory does not grow with the list. */
export async function* writeParquet(
  list: AddressList,
  metadata: ListMetadata,
): AsyncGenerator<Uint8Array, void, undefined> {
  const encoder = new RowGroupEncoder(await loadParquetWriter(), { columns, metadata: [] });
  for (const [family, part] of families(list)) {
    for (const ips of groups(part)) yield encoder.encode(cells(ips, BigInt(family), metadata));
  }
  yield encoder.footer();
}

/** @throws UsageError `driver_missing`, `driver_unusable` */
export function loadParquetWriter(): Promise<ParquetDriver> {
  return loadDriver("hyparquet-writer", () => import("hyparquet-writer"));
}

/** Splits the addresses, as text, into row groups. */
function* groups(list: AddressList): Generator<string[], void, undefined> {
  let held: string[] = [];
  for (const address of addressTexts(list)) {
    if (held.push(address) < groupRows) continue;
    yield held;
    held = [];
  }
  if (held.length > 0) yield held;
}

function cells(ips: string[], family: bigint, metadata: ListMetadata): (string | bigint)[][] {
  const { tag, snapshot, lastUpdate, exportedAt } = metadata;
  const microseconds = BigInt(Date.parse(exportedAt)) * 1000n;
  const same = [family, tag, snapshot, lastUpdate, microseconds];
  return [ips, ...same.map((value) => Array.from(ips, () => value))];
}
