import type { AddressList } from "../address/address-list.js";

/** The forms in which a tag's list can be written; each is the ending of its file's name. */
export const tagFormats = ["txt", "csv", "ndjson", "cidr", "nft", "ipset", "parquet"] as const;

export type TagFormat = (typeof tagFormats)[number];

/** What a file may say of its list beside the addresses. */
export interface ListFacts {
  readonly tag: string;
  readonly snapshot: string;
  /** As the service gave it. */
  readonly lastUpdate: string;
  /** When the list was read, RFC 3339 UTC. */
  readonly exportedAt: string;
  readonly sets: SetNames;
  /** Whether no cell of CSV may run as a formula in a spreadsheet. */
  readonly formulaGuard: boolean;
}

/** The names that a tag's addresses have in a firewall: a set holds one family. */
export interface SetNames {
  readonly ipv4: string;
  readonly ipv6: string;
}

/**
 * Gives the bytes of a file, a piece at a time; a piece is good until the next one is asked for, so
 * that the memory which it takes does not grow with the list.
 */
export type TagFormatWriter = (
  list: AddressList,
  facts: ListFacts,
) => Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
