import { isReserved, type Withheld } from "../lookup/withheld.js";
import { type AddressList, v4Text, v6Text } from "./address-list.js";
import type { ExportedTag } from "./folder/export-index.js";

/**
 * Removes from a list what a firewall must not get: addresses that exclusion lists name, each
 * counted for the first one, and addresses in reserved ranges, unless those are kept.
 */
export function leaveOut(
  { v4, v6 }: AddressList,
  withheld: Withheld,
): { readonly list: AddressList; readonly leftOut: ExportedTag["left_out"] } {
  const counts = withheld.lists.map(() => 0);
  let reserved = 0;
  const isKept = (value: string): boolean => {
    const item = { kind: "ip", value } as const;
    const by = withheld.listOf(item);
    if (by !== null) counts[withheld.lists.indexOf(by)]!++;
    else if (withheld.bogons === "local" && isReserved(item)) reserved++;
    else return true;
    return false;
  };
  const list = {
    v4: v4.filter((address) => isKept(v4Text(address))),
    v6: v6.filter((address) => isKept(v6Text(address))),
  };
  const excluded = withheld.lists.map(({ path, sha256 }, at) => ({
    path,
    sha256,
    addresses: counts[at]!,
  }));
  return { list, leftOut: { reserved: withheld.bogons === "local" ? reserved : null, excluded } };
}
