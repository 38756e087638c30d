import { type AddressList, sizeOf } from "../address/address-list.js";
import { addressLines } from "./address-lines.js";
import { heading } from "./heading.js";
import type { ListFacts } from "./types.js";

/** The table of all sets; rules that use them stand in a table of the same name. */
const table = "inet repute";

/**
 * Two sets for nftables, one a family, which `nft -f` makes or fills anew in one transaction: rules
 * that use them never see half a list. Both are always there, so that such rules load.
 *
 * The sets hold single addresses, which nftables finds by hashing, rather than intervals.
 */
export function* writeNft(list: AddressList, facts: ListFacts): Iterable<Uint8Array> {
  const { ipv4, ipv6 } = facts.sets;
  yield Buffer.from(
    [
      "#!/usr/sbin/nft -f",
      heading(list, facts).trimEnd(),
      `add table ${table}`,
      `add set ${table} ${ipv4} { type ipv4_addr; }`,
      `add set ${table} ${ipv6} { type ipv6_addr; }`,
      `flush set ${table} ${ipv4}`,
      `flush set ${table} ${ipv6}`,
      "",
    ].join("\n"),
  );
  yield* elements(ipv4, { v4: list.v4, v6: new Uint32Array(0) });
  yield* elements(ipv6, { v4: new Uint32Array(0), v6: list.v6 });
}

/** One command for all of a family: nft takes its time over commands, not over elements. */
function* elements(set: string, list: AddressList): Iterable<Uint8Array> {
  // An empty pair of braces is a syntax error.
  if (sizeOf(list) === 0) return;
  yield Buffer.from(`add element ${table} ${set} {\n`);
  yield* addressLines(list, { v4: ["\t", ",\n"], v6: ["\t", ",\n"] });
  yield Buffer.from("}\n");
}
