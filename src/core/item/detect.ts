import { readDomain, readEmail } from "./hostname.js";
import { readIp } from "./ip.js";
import type { Item, ItemKind } from "./item.js";
import { readUrl } from "./url.js";
import { readWallet } from "./wallet/wallet.js";

/** Detects the kind of a stripped and refanged text. Null if it is none of the six. */
export function detectItem(text: string): Item | null {
  for (const kind of detectionOrder) {
    const value = readers[kind](text, false);
    if (value !== null) return { kind, value };
  }
  return null;
}

export function readItemAs(kind: ItemKind, text: string): Item | null {
  const value = readers[kind](text, true);
  return value === null ? null : { kind, value };
}

/** One reader per kind: returns the normal form, or null. `labelled`: the input states the kind. */
type Reader = (text: string, labelled: boolean) => string | null;

const readers = {
  ip: readIp,
  sha1: readSha1,
  crypto_wallet: readWallet,
  url: readUrl,
  email: readEmail,
  domain: readDomain,
} as const satisfies Record<ItemKind, Reader>;

/** Order of detection, strictest first. Only domains overlap with others: addresses and wallets. */
const detectionOrder = ["ip", "sha1", "crypto_wallet", "url", "email", "domain"] as const;

/**
 * Reads a SHA1 hash: 40 hex digits, converted to lower case. Drops a leading `sha1:`.
 *
 * @returns the normal form, or null if the text is not a SHA1 hash
 */
export function readSha1(text: string): string | null {
  if (text.length === digits) return isHex(text) ? text.toLowerCase() : null;
  if (text.length > digits + longestLabel || !label.test(text)) return null;
  const hash = text.replace(label, "");
  return hash.length === digits && isHex(hash) ? hash.toLowerCase() : null;
}

export function isHex(text: string): boolean {
  return /^[\da-f]*$/i.test(text);
}

const digits = 40;
const longestLabel = 7;
const label = /^sha-?1: ?/i;
