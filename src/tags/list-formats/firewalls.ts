import { type AddressList, sizeOf } from "../address/address-list.js";
import { addressLines, families, piecesOf } from "./address-lines.js";
import type { ListMetadata } from "./types.js";

/**
 * Comment lines that describe a firewall file. Text from the service is quoted and cut, so that it
 * cannot end the line and become a command; ipset reads lines of up to 1024 bytes.
 */
function heading({ v4, v6 }: AddressList, metadata: ListMetadata): string {
  return [
    `# tag ${quoted(metadata.tag)}: ${v4.length} IPv4 and ${v6.length / 4} IPv6 addresses`,
    `# snapshot ${quoted(metadata.snapshot)}, last update ${quoted(metadata.lastUpdate)}, exported at ${metadata.exportedAt}`,
    "",
  ].join("\n");
}

const maxQuoted = 200;

function quoted(text: string): string {
  const escaped = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(/[^ -~]/g, "?");
  return escaped.length <= maxQuoted ? `"${escaped}"` : `"${escaped.slice(0, maxQuoted)} ..."`;
}

/**
 * Two sets for `ipset restore`, one per family. Each is filled beside the set in use and then
 * swapped with it, so that rules never see half a list, and loading the file again replaces the
 * addresses.
 *
 * `create -exist` requires the limits of an existing set to be equal, so `maxelem` is its maximum
 * instead of the length of the list. It costs no memory.
 */
export function* writeIpset(list: AddressList, metadata: ListMetadata): Iterable<Uint8Array> {
  yield Buffer.from(heading(list, metadata));
  const v4 = list.v4[0] === 0 ? list.v4.subarray(1) : list.v4;
  const beginsWithZero = list.v6.length > 0 && list.v6.subarray(0, 4).every((word) => word === 0);
  const v6 = beginsWithZero ? list.v6.subarray(4) : list.v6;
  if (v4 !== list.v4) yield omitted("0.0.0.0");
  if (v6 !== list.v6) yield omitted("::");
  for (const [family, part] of families({ v4, v6 })) {
    yield* replacedSet(metadata.sets[`ipv${family}`], family === 4 ? "inet" : "inet6", part);
  }
}

/** Comment for an all-zero address, which a hash:ip set cannot store (ipset(8)). */
function omitted(address: string): Uint8Array {
  return Buffer.from(`# omitted, because a hash:ip set cannot store it: ${address}\n`);
}

const limits = "hashsize 1024 maxelem 4294967295";

function* replacedSet(
  set: string,
  family: "inet" | "inet6",
  list: AddressList,
): Iterable<Uint8Array> {
  const fresh = `${set}_n`;
  yield Buffer.from(
    [
      `create ${set} hash:ip family ${family} ${limits} -exist`,
      `create ${fresh} hash:ip family ${family} ${limits} -exist`,
      `flush ${fresh}`,
      "",
    ].join("\n"),
  );
  yield* piecesOf(addressLines(list, `add ${fresh} `, "\n"));
  yield Buffer.from(`swap ${fresh} ${set}\ndestroy ${fresh}\n`);
}

/** Table of all sets. Rules that use them belong in a table of the same name. */
const table = "inet repute";

/**
 * Two sets for nftables, one per family, which `nft -f` creates or refills in one transaction:
 * rules that use them never see half a list. Both always exist, so that such rules load.
 *
 * The sets hold single addresses rather than intervals; nftables looks them up by hash.
 */
export function* writeNft(list: AddressList, metadata: ListMetadata): Iterable<Uint8Array> {
  const { ipv4, ipv6 } = metadata.sets;
  yield Buffer.from(
    [
      "#!/usr/sbin/nft -f",
      heading(list, metadata).trimEnd(),
      `add table ${table}`,
      `add set ${table} ${ipv4} { type ipv4_addr; }`,
      `add set ${table} ${ipv6} { type ipv6_addr; }`,
      `flush set ${table} ${ipv4}`,
      `flush set ${table} ${ipv6}`,
      "",
    ].join("\n"),
  );
  for (const [family, part] of families(list)) yield* elements(metadata.sets[`ipv${family}`], part);
}

/** One command per family: the cost of nft grows with commands, not with elements. */
function* elements(set: string, list: AddressList): Iterable<Uint8Array> {
  // Empty braces are a syntax error.
  if (sizeOf(list) === 0) return;
  yield Buffer.from(`add element ${table} ${set} {\n`);
  yield* piecesOf(addressLines(list, "\t", ",\n"));
  yield Buffer.from("}\n");
}
