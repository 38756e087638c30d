import { detectItem, readItemAs } from "./detect.js";
import { explain, unsupported } from "./explain.js";
import {
  isPublishedKind,
  type Item,
  type ItemKind,
  type Recognition,
  type UnsupportedCode,
} from "./item.js";
import { refang, strip } from "./refang.js";

/**
 * Finds out which item a text is and writes it in its normal form: what surrounds the value goes,
 * defanging is undone, a publisher's prefix (`IP: …`) goes, the kind is detected and the value
 * normalised as its kind has it.
 *
 * With a kind (from a kind column, see `parseKindName`) the text is read as that kind first, also
 * where detection would not dare: a bare host name becomes a URL, `install.sh` a domain. What cannot
 * be read as that kind is detected as usual, since labels are wrong at times.
 *
 * Never throws, whatever the text. The value of an item, recognised again with its kind, gives the
 * same item. Time is linear in the length of the text.
 *
 * @param text the cell as it stands in the input
 * @param kind the kind that the input itself says; null detects it
 * @default kind null
 */
export function recogniseItem(text: string, kind: ItemKind | null = null): Recognition {
  const bare = stripCell(text);
  if (bare.length === 0) return unsupported("empty");
  if (bare.length > longestText) return unsupported("too_long");
  if (control.test(bare)) return unsupported("control_character");
  if (loneSurrogate.test(bare)) return unsupported("lone_surrogate");
  const plain = refang(bare);
  const item = readItem(plain, kind);
  if (item !== null) return sendable(item);
  const value = behindLabel(plain);
  if (value === null || value === "") return unsupported(explain(plain));
  const labelled = readItem(value, kind);
  return labelled === null ? unsupported(explain(value)) : sendable(labelled);
}

function readItem(plain: string, kind: ItemKind | null): Item | null {
  return (kind === null ? null : readItemAs(kind, plain)) ?? detectItem(plain);
}

/** Longer texts are not looked into. Defanging makes a text longer than its item, but not by this. */
const longestText = 65_536;
/** As it travels, percent-encoded in one path segment: servers commonly stop at 8 KiB of request line. */
const longestSegment = 8192;
/** A character of the Basic Multilingual Plane is at most three bytes, each written `%xx`. */
const longestEscape = 9;

const control = /[\u0000-\u001f\u007f-\u009f]/;
const loneSurrogate = /\p{Cs}/u;

function sendable(item: Item): Recognition {
  return isTooLong(item.value) ? unsupported("too_long") : { item, reason: null };
}

function isTooLong(value: string): boolean {
  return (
    value.length * longestEscape > longestSegment &&
    encodeURIComponent(value).length > longestSegment
  );
}

/**
 * A cell's text without what surrounds its value, see `strip`, and without a stray leading `?`, such
 * as a byte order mark leaves that was written in the wrong encoding. No item begins with one.
 */
function stripCell(text: string): string {
  const bare = strip(text);
  return bare.startsWith("?") ? strip(bare.replace(questionMarks, "")) || bare : bare;
}

/**
 * The value behind a publisher's prefix (`SHA1: …`, `IP: …`, `URL = …`), stripped and refanged; null
 * when there is no such prefix.
 */
function behindLabel(text: string): string | null {
  const label = labelled.exec(text);
  if (label === null || !isPublishedKind(label[1] ?? "")) return null;
  return refang(stripCell(text.slice(label[0].length)));
}

const questionMarks = /^[?\s]+/;
const labelled = /^([a-z][\w ./-]{0,31}?) ?[:=]\s*(?=\S)/i;

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

const listed: ReadonlySet<UnsupportedCode> = new Set<UnsupportedCode>([
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

const files: ReadonlySet<UnsupportedCode> = new Set<UnsupportedCode>([
  "file_name",
  "path",
  "registry_key",
]);
