import { readDomain, readEmail } from "./hostname.js";
import { readIp } from "./ip.js";
import type { Item, ItemKind } from "./item.js";
import { readUrl } from "./url.js";
import { readWallet } from "./wallet/wallet.js";

/** Detects the kind of a text that was stripped and refanged. Null when it is none of the six. */
export function detectItem(text: string): Item | null {
  for (const kind of detectionOrder) {
    const value = readers[kind](text, false);
    if (value !== null) return { kind, value };
  }
  return null;
}

/** Reads a text that was stripped and refanged as the kind that its label says, or gives null. */
export function readItemAs(kind: ItemKind, text: string): Item | null {
  const value = readers[kind](text, true);
  return value === null ? null : { kind, value };
}

/** One reader a kind: the normal form, or null. `labelled`: the input itself says the kind. */
type Reader = (text: string, labelled: boolean) => string | null;

const readers = {
  ip: readIp,
  sha1: readSha1,
  crypto_wallet: readWallet,
  url: readUrl,
  email: readEmail,
  domain: readDomain,
} as const satisfies Record<ItemKind, Reader>;

/** The forms do not overlap but for addresses and wallets, which are no domains; strictest first. */
const detectionOrder = ["ip", "sha1", "crypto_wallet", "url", "email", "domain"] as const;

/**
 * Reads a SHA1 hash: 40 hex digits, given lower case. `sha1:` in front of it is dropped.
 *
 * @returns the normal form, or null when the text is no SHA1 hash
 */
export function readSha1(text: string): string | null {
  if (text.length === digits) return isHex(text) ? text.toLowerCase() : null;
  if (text.length > digits + longestLabel || !label.test(text)) return null;
  const hash = text.replace(label, "");
  return hash.length === digits && isHex(hash) ? hash.toLowerCase() : null;
}

/** True when the text is hex digits only, or empty. */
export function isHex(text: string): boolean {
  return /^[\da-f]*$/i.test(text);
}

const digits = 40;
const longestLabel = 7;
const label = /^sha-?1: ?/i;
