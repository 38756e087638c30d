import type { AddressList } from "../address-list.js";

/** Formats of a tag's list. Each is also the extension of its file. */
export const tagFormats = ["txt", "csv", "ndjson", "cidr", "nft", "ipset", "parquet"] as const;

export type TagFormat = (typeof tagFormats)[number];

/** Metadata of a list that a file may include. */
export interface ListMetadata {
  readonly tag: string;
  readonly snapshot: string;
  /** As received from the service. */
  readonly lastUpdate: string;
  /** When the list was read, RFC 3339 UTC. */
  readonly exportedAt: string;
  readonly sets: SetNames;
  /** True neutralises CSV cells that a spreadsheet would run as a formula. */
  readonly formulaGuard: boolean;
}

/** Names of a tag's sets in a firewall. A set holds one family. */
export interface SetNames {
  readonly ipv4: string;
  readonly ipv6: string;
}

/**
 * Yields the bytes of a file in pieces, so that memory does not grow with the list. A piece is
 * valid until the next one is requested.
 */
export type TagFormatWriter = (
  list: AddressList,
  metadata: ListMetadata,
) => Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
