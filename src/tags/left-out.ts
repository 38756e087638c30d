import type { Withheld } from "../lookup/withheld.js";
import { isReserved } from "../lookup/withheld.js";
import { type AddressList, addressText, widths } from "./address/address-list.js";

/** Addresses of a tag that its list does not have, because a firewall must not get them. */
export interface LeftOut {
  /** Addresses in reserved ranges; null if those are kept. */
  readonly reserved: number | null;
  /** Addresses that exclusion lists name; each counts for the first one. */
  readonly excluded: readonly {
    readonly path: string;
    readonly sha256: string;
    readonly addresses: number;
  }[];
}

/** Removes from a list what must not be in any. */
export function leaveOut(
  list: AddressList,
  withheld: Withheld,
): { readonly list: AddressList; readonly leftOut: LeftOut } {
  const counts = withheld.lists.map(() => 0);
  let reserved = 0;
  const isLeftOut = (value: string): boolean => {
    const item = { kind: "ip", value } as const;
    const by = withheld.listOf(item);
    if (by !== null) counts[withheld.lists.indexOf(by)]!++;
    else if (withheld.bogons === "local" && isReserved(item)) reserved++;
    else return false;
    return true;
  };
  return {
    list: {
      v4: without(list.v4, widths.v4, isLeftOut),
      v6: without(list.v6, widths.v6, isLeftOut),
    },
    leftOut: {
      reserved: withheld.bogons === "local" ? reserved : null,
      excluded: withheld.lists.map(({ path, sha256 }, at) => ({
        path,
        sha256,
        addresses: counts[at]!,
      })),
    },
  };
}

export function leftOutSize({ reserved, excluded }: LeftOut): number {
  return excluded.reduce((sum, { addresses }) => sum + addresses, reserved ?? 0);
}

export function hasSameRules({ reserved, excluded }: LeftOut, withheld: Withheld): boolean {
  const digests = (lists: readonly { readonly sha256: string }[]): string =>
    lists.map(({ sha256 }) => sha256).join();
  const keepsReserved = withheld.bogons === "ask";
  return keepsReserved === (reserved === null) && digests(excluded) === digests(withheld.lists);
}

/** The words without those of addresses that are left out. */
function without(
  words: Uint32Array,
  width: number,
  isLeftOut: (address: string) => boolean,
): Uint32Array {
  const kept = new Uint32Array(words.length);
  let length = 0;
  for (let at = 0; at < words.length / width; at++) {
    if (isLeftOut(addressText(words, at, width))) continue;
    kept.set(words.subarray(at * width, (at + 1) * width), length * width);
    length++;
  }
  return kept.slice(0, length * width);
}
