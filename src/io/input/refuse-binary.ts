import { isUtf8 } from "node:buffer";
import { UsageError } from "../../core/errors.js";
import { limits } from "../formats/reading/lines.js";

const parquet = "a Parquet file";

/** How files that are not read begin, as Latin-1. */
const signatures: readonly (readonly [start: string, kind: string])[] = [
  ["PK\x03\x04", "a ZIP archive"],
  ["PK\x05\x06", "an empty ZIP archive"],
  ["\xd0\xcf\x11\xe0", "an Excel workbook (.xls)"],
  ["%PDF", "a PDF document"],
  ["{\\rtf", "an RTF document"],
  ["\x89PNG", "a PNG image"],
  ["\xff\xd8\xff", "a JPEG image"],
  ["GIF8", "a GIF image"],
  ["PAR1", parquet],
  ["SQLite format 3\0", "a SQLite database"],
  ["7z\xbc\xaf", "a 7-Zip archive"],
  ["Rar!\x1a\x07", "a RAR archive"],
  ["\x28\xb5\x2f\xfd", "compressed with zstd"],
  ["\xfd7zX", "compressed with xz"],
  ["BZh91AY", "compressed with bzip2"],
];

/** Where the header of a tar archive says `ustar` (POSIX, pax). */
const tarMagic = 257;

/**
 * Refuses input that is neither rows nor objects nor a list: binary data, and markup unless it is read.
 *
 * @param head the start of the text, without byte order mark, up to a line end or further
 */
export function refuseBinary(head: Buffer, name: string, readsMarkup: boolean): void {
  const start = head.toString("latin1", 0, limits.headBytes);
  const markup = readsMarkup ? null : markupOf(start);
  const kind = markup ?? binaryKind(head);
  if (kind === null) return;
  const utf16 = utf16Start.exec(start);
  const input = name === "stdin" ? "-" : name;
  throw new UsageError("input_binary", `${name} is ${kind}; ${readable}`, {
    hint:
      markup !== null
        ? `find the items in it: repute extract ${input} | repute enrich - -o OUT`
        : utf16 !== null
          ? `name its encoding: --encoding ${utf16[1] === undefined ? "utf-16be" : "utf-16le"}`
          : kind === parquet
            ? "Parquet is read from a file whose name ends in .parquet"
            : "convert it to one of these; of compressed files, only gzip is read",
  });
}

const readable = "repute reads CSV, TSV, NDJSON and lists of items";

/** What bytes are that are no text, from the first ones; null for text. */
export function binaryKind(bytes: Buffer): string | null {
  const head = bytes.toString("latin1", 0, limits.headBytes);
  if (utf16Start.test(head)) return "UTF-16 text without a byte order mark";
  const known = signatures.find(([start]) => head.startsWith(start));
  if (known !== undefined) return known[1];
  if (head.startsWith("ustar", tarMagic)) return "a tar archive";
  return isBinary(head) ? "binary data" : null;
}

/** Three ASCII characters, little endian or big endian. */
const utf16Start = /^(?:((?:[\x01-\x7f]\0){3})|(?:\0[\x01-\x7f]){3})/;

function markupOf(head: string): string | null {
  if (html.test(head)) return "an HTML page";
  // An item may stand in angle brackets; it has no end tag.
  return xml.test(head) || (element.test(head) && head.includes("</")) ? "an XML document" : null;
}

const html = /^\s*<(?:!doctype\s+html|html)\b/i;
const xml = /^\s*<(?:\?xml\b|!DOCTYPE\b|!--)/i;
const element = /^\s*<[a-z][\w:.-]*(?:\s[^<>]*)?>/i;

const mostLines = 50;

/** Shorter inputs may be text with some stray bytes. */
const leastBytes = 100;

/** Whether most lines have what text has by accident only. */
function isBinary(head: string): boolean {
  if (head.length < leastBytes) return false;
  const lines = head.split("\n", mostLines).filter((line) => line !== "");
  const odd = lines.filter(
    (line) => line.includes("\0") || (control.test(line) && !isUtf8(Buffer.from(line, "latin1"))),
  );
  return odd.length * 2 > lines.length;
}

const control = /[\x01-\x08\x0e-\x1f\x7f]/;
