import { hash } from "node:crypto";
import type { Item, ItemKind } from "../../core/item/item.js";

/**
 * Namespace of the identifiers below. STIX keeps its own namespace for cyber-observable objects and
 * forbids it to indicators (STIX 2.1, 2.9), so that this is one of repute's own. It never changes:
 * an indicator of another night has the same identifier.
 */
const namespace = Buffer.from("5c8e293f93734f2a8efa619370ae923b", "hex");

/** Object path of each kind but `ip` (STIX 2.1, 6 and 9); the wallet's is OpenCTI's. */
const paths: Readonly<Record<Exclude<ItemKind, "ip">, string>> = {
  domain: "domain-name:value",
  url: "url:value",
  sha1: "file:hashes.'SHA-1'",
  email: "email-addr:value",
  // STIX has no object for wallets; the readers that know one know it by this name.
  crypto_wallet: "cryptocurrency-wallet:value",
};

/** The pattern that finds an item (STIX 2.1, 9). */
export function stixPattern({ kind, value }: Item): string {
  const path =
    kind === "ip" ? (value.includes(":") ? "ipv6-addr:value" : "ipv4-addr:value") : paths[kind];
  return `[${path} = '${value.replaceAll(/['\\]/g, "\\$&")}']`;
}

/** The identifier of a pattern's indicator: `indicator--` and the UUID that the pattern names. */
export function stixIndicatorId(pattern: string): string {
  return `indicator--${nameUuid(pattern)}`;
}

/** A UUID of version 5 in repute's namespace, the same for the same name (RFC 9562, 5.5). */
export function nameUuid(name: string): string {
  const bytes = hash("sha1", Buffer.concat([namespace, Buffer.from(name)]), "buffer");
  bytes[6] = (bytes[6]! & 0x0f) | 0x50;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString("hex", 0, 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
