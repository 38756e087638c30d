import type { AddressList } from "../address/address-list.js";
import { ByteChunk, longestAddress } from "../address/byte-chunk.js";
import { recordWriter, withoutFormula } from "../../formats/csv/csv-writer.js";
import type { ListFacts } from "./types.js";

/** What stands before and behind an address. */
export type Surroundings = readonly [before: string, behind: string];

/** Each address of a list between the same texts, IPv4 before IPv6. */
export function* addressLines(
  { v4, v6 }: AddressList,
  around: { readonly v4: Surroundings; readonly v6: Surroundings },
): Generator<Uint8Array, void, undefined> {
  const [beforeV4, behindV4] = around.v4.map((text) => Buffer.from(text)) as [Buffer, Buffer];
  const [beforeV6, behindV6] = around.v6.map((text) => Buffer.from(text)) as [Buffer, Buffer];
  const longest = Math.max(beforeV4.length + behindV4.length, beforeV6.length + behindV6.length);
  const chunk = new ByteChunk(longest + longestAddress);
  for (let at = 0; at < v4.length; at++) {
    chunk.put(beforeV4);
    chunk.putV4(v4[at]!);
    chunk.put(behindV4);
    if (chunk.full) yield chunk.take();
  }
  for (let at = 0; at < v6.length / 4; at++) {
    chunk.put(beforeV6);
    chunk.putV6(v6, at);
    chunk.put(behindV6);
    if (chunk.full) yield chunk.take();
  }
  yield chunk.take();
}

/** One address a line. */
export function writeText(list: AddressList): Iterable<Uint8Array> {
  return addressLines(list, { v4: ["", "\n"], v6: ["", "\n"] });
}

/** CSV (RFC 4180, lines ended by LF) with one row an address; `family` is 4 or 6. */
export function* writeCsv(list: AddressList, facts: ListFacts): Iterable<Uint8Array> {
  yield Buffer.from("ip,family,tag,snapshot,last_update,exported_at\n");
  const { tag, snapshot, lastUpdate, exportedAt, formulaGuard } = facts;
  const shown = formulaGuard ? withoutFormula : String;
  const rest = recordWriter(",")([tag, snapshot, lastUpdate, exportedAt].map(shown));
  yield* addressLines(list, { v4: ["", `,4,${rest}`], v6: ["", `,6,${rest}`] });
}

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
