import { detectItem, readItemAs, explainUnsupported, unsupported } from "./detect.js";
import { isPlaceholder } from "./empty-cell.js";
import {
  isPublishedKind,
  type Item,
  type ItemKind,
  type Recognition,
  type UnsupportedCode,
} from "./item.js";
import { refang, strip } from "./refang.js";
import { hostOf, isInternalHost } from "./url.js";

/**
 * Recognises the item in a text and normalises it: strips what surrounds the value, undoes
 * defanging, drops a publisher's prefix (`IP: …`), detects the kind and normalises accordingly.
 *
 * With a kind (from a kind column, see `parseKindName`), tries that kind first, even where detection
 * would not: a bare host name becomes a URL, `install.sh` a domain. If that fails, detects as usual,
 * since labels are sometimes wrong.
 *
 * Never throws. Idempotent: recognising an item's value with its kind gives the same item. Takes
 * linear time.
 *
 * @param text the cell as written in the input
 * @param kind the kind that the input states; null to detect it
 * @default kind null
 */
export function recogniseItem(text: string, kind: ItemKind | null = null): Recognition {
  const bare = stripCell(text);
  if (bare.length === 0 || isPlaceholder(bare)) return unsupported("empty");
  if (bare.length > longestText) return unsupported("too_long");
  if (loneSurrogate.test(bare)) return unsupported("lone_surrogate");
  if (control.test(bare))
    return oneOfSeveral(refang(bare), kind) ?? unsupported("control_character");
  return recognisePlain(refang(bare), kind);
}

function recognisePlain(plain: string, kind: ItemKind | null): Recognition {
  const value = behindLabel(plain) ?? "";
  return (
    recogniseWhole(plain, kind) ??
    recogniseWhole(value, kind) ??
    oneOfSeveral(plain, kind) ??
    unsupported(explainUnsupported(value === "" ? plain : value))
  );
}

/** Recognises a text that is one item, or a URL that white space may divide; null for any other. */
function recogniseWhole(plain: string, kind: ItemKind | null): Recognition | null {
  const item = readItem(plain, kind);
  if (item === null) return null;
  const isSplit = item.kind === "url" && space.test(plain);
  return (isSplit ? oneOfSeveral(plain, kind) : null) ?? sendable(item);
}

/**
 * Recognises the item of a cell with several values (`sha256,md5,sha1`), each of which must be what
 * publishers list, the name of a kind (`SHA1:`) or, without spaces, a bare word (`192.0.2.1|8080`);
 * null for any other text, such as prose.
 */
function oneOfSeveral(plain: string, kind: ItemKind | null): Recognition | null {
  if (!separator.test(plain)) return null;
  const hasSpace = space.test(plain);
  let found: Item | null = null;
  for (const piece of plain.split(separator, mostPieces)) {
    const part = strip(piece);
    if (part === "" || (part.endsWith(":") && isPublishedKind(part))) continue;
    if (part.length < shortestHash && !marked.test(part)) {
      if (hasSpace) return null;
      continue;
    }
    const { item, reason } = recognisePlain(part, kind);
    if (item === null) {
      if (!listed.has(reason.code) && reason.code !== "file_name") return null;
    } else if (found === null) found = item;
    else if (found.kind !== item.kind || found.value !== item.value) return unsupported("several");
  }
  return found === null ? null : { item: found, reason: null };
}

const separator = /[\s,;|]+/;
const space = /\s/;
/** Shorter items, networks and file names have one of these. */
const marked = /[.:@]/;
const shortestHash = 25;
/** Of a longer list, the first ones tell. */
const mostPieces = 64;

function readItem(plain: string, kind: ItemKind | null): Item | null {
  return (kind === null ? null : readItemAs(kind, plain)) ?? detectItem(plain);
}

/** Longer texts are not examined. Defanging lengthens an item, but never this much. */
const longestText = 65_536;
/** Maximum length once percent-encoded: servers commonly limit the request line to 8 KiB. */
const longestSegment = 8192;
/** A Basic Multilingual Plane character is at most three bytes, each encoded as `%xx`. */
const longestEscape = 9;

const control = /[\u0000-\u001f\u007f-\u009f]/;
const loneSurrogate = /\p{Cs}/u;

function sendable(item: Item): Recognition {
  if (isTooLong(item.value)) return unsupported("too_long");
  const host = item.kind === "ip" ? null : hostOf(item);
  if (host !== null && isInternalHost(host)) return unsupported("internal_host");
  return { item, reason: null };
}

function isTooLong(value: string): boolean {
  return (
    value.length * longestEscape > longestSegment &&
    encodeURIComponent(value).length > longestSegment
  );
}

/**
 * Strips a cell (see `strip`), and a stray leading `?`, the trace of a byte order mark written in the
 * wrong encoding. No item starts with one.
 */
function stripCell(text: string): string {
  const bare = strip(text);
  return bare.startsWith("?") ? strip(bare.replace(questionMarks, "")) || bare : bare;
}

/**
 * The value after a publisher's prefix (`SHA1: …`, `IP: …`, `URL = …`), stripped and refanged; null
 * without such a prefix.
 */
function behindLabel(text: string): string | null {
  const label = labelled.exec(text);
  if (label === null || !isPublishedKind(label[1] ?? "")) return null;
  return refang(stripCell(text.slice(label[0].length)));
}

const questionMarks = /^[?\s]+/;
const labelled = /^([a-z][\w ./-]{0,31}?) ?[:=]\s*(?=\S)/i;

export function indicatorWeight(text: string): number {
  return rateText(text).weight;
}

/** How much a text looks like an indicator, and the item in it. */
export interface TextRating {
  /**
   * 1 for items and for what publishers list but repute does not send (other hashes, networks, URLs of
   * internal hosts), 0.5 for file names and paths, otherwise 0.
   */
  readonly weight: number;
  readonly item: Item | null;
}

export function rateText(text: string): TextRating {
  const { item, reason } = recogniseItem(text);
  if (item !== null) return { weight: 1, item };
  const weight = listed.has(reason.code) ? 1 : files.has(reason.code) ? fileWeight : 0;
  return { weight, item };
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
  "internal_host",
]);

const files: ReadonlySet<UnsupportedCode> = new Set<UnsupportedCode>([
  "file_name",
  "path",
  "registry_key",
]);
