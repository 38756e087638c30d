import type { AddressList } from "../address/address-list.js";
import { addressLines } from "./address-lines.js";
import { heading } from "./heading.js";
import type { ListFacts } from "./types.js";

/**
 * Two sets for `ipset restore`, one a family. Each is filled beside the set in use and then swapped
 * with it, so that rules never see half a list, and loading the file again replaces the addresses.
 *
 * `create -exist` wants the limit of an existing set to be the same, so it is the highest there is
 * rather than the length of the list; it takes no memory.
 */
export function* writeIpset(list: AddressList, facts: ListFacts): Iterable<Uint8Array> {
  const { ipv4, ipv6 } = facts.sets;
  yield Buffer.from(heading(list, facts));
  const v4 = list.v4[0] === 0 ? list.v4.subarray(1) : list.v4;
  const v6 = beginsWithZero(list.v6) ? list.v6.subarray(4) : list.v6;
  if (v4 !== list.v4) yield leftOut("0.0.0.0");
  if (v6 !== list.v6) yield leftOut("::");
  yield* replacedSet(ipv4, "inet", { v4, v6: new Uint32Array(0) });
  yield* replacedSet(ipv6, "inet6", { v4: new Uint32Array(0), v6 });
}

function beginsWithZero(v6: Uint32Array): boolean {
  return v6.length > 0 && v6.subarray(0, 4).every((word) => word === 0);
}

/** The address of zero bits alone cannot be stored in sets of this type (ipset(8), hash:ip). */
function leftOut(address: string): Uint8Array {
  return Buffer.from(`# left out, because a hash:ip set cannot hold it: ${address}\n`);
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
  const around = [`add ${fresh} `, "\n"] as const;
  yield* addressLines(list, { v4: around, v6: around });
  yield Buffer.from(`swap ${fresh} ${set}\ndestroy ${fresh}\n`);
}
