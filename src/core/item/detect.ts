import { readDomain } from "./domain.js";
import { readEmail } from "./email.js";
import { readIp } from "./ip.js";
import type { Item, ItemKind } from "./item.js";
import { readSha1 } from "./sha1.js";
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
