import { recogniseItem } from "./recognise.js";
import type { UnsupportedCode } from "./reasons.js";

/**
 * How far a cell's text is an indicator: 1 for an item and for what publishers list but the
 * interface has no kind for (other hashes, networks), a half for file names and paths, else 0.
 */
export function indicatorWeight(text: string): number {
  const { item, reason } = recogniseItem(text);
  if (item !== null) return 1;
  if (listed.has(reason.code)) return 1;
  return files.has(reason.code) ? fileWeight : 0;
}

const fileWeight = 0.5;

const listed: ReadonlySet<string> = new Set<UnsupportedCode>([
  "several",
  "md5",
  "sha224",
  "sha256",
  "sha384",
  "sha512",
  "cidr",
  "ip_range",
  "ip_zone",
  "ip_leading_zero",
  "wildcard",
  "url_scheme",
]);

const files: ReadonlySet<string> = new Set<UnsupportedCode>(["file_name", "path", "registry_key"]);
