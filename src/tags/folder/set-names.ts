import { createHash } from "node:crypto";
import type { SetNames } from "../formats/types.js";

/** ipset has names of 31 bytes (ipset(8)); the longest is this one with `_v4_n` behind it. */
const longestName = 26;

/**
 * The names of a tag's sets in a firewall, from the stem of its files where nftables and ipset take
 * that: letters, digits, `.`, `_` and `-`, beginning with a letter, short enough.
 */
export function setNames(tag: string, stem: string): SetNames {
  const digest = createHash("sha256").update(tag).digest("hex").slice(0, 8);
  const plain = stem.replaceAll(/%[0-9A-F]{2}/g, "_").replace(/^[^A-Za-z]/, "t$&");
  const name =
    plain === stem && stem.length <= longestName
      ? stem
      : `${plain.slice(0, longestName - digest.length - 1)}-${digest}`;
  return { ipv4: `${name}_v4`, ipv6: `${name}_v6` };
}
