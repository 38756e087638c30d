import { isUtf8 } from "node:buffer";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { FatalError, ReputeError, UsageError } from "../../core/errors.js";
import { parseObject } from "../../core/json-members.js";
import { continued, limits } from "../formats/reading/lines.js";
import { peek } from "../formats/reading/sample.js";
import type { Encoding, InputBytes } from "./types.js";

/** Decompresses an input, and converts it to UTF-8 without byte order mark. */
export async function decode(
  stored: Pick<InputBytes, "name" | "chunks">,
  { gzip, encoding, json, sheet }: Encoding,
  warnings: string[],
): Promise<AsyncGenerator<Buffer>> {
  const { name } = stored;
  let { head, chunks } = await peek(stored.chunks, (bytes) => bytes.length >= 2);
  if (looksGzipped(head) || gzip) {
    if (!looksGzipped(head)) {
      const message = `${name} is not gzip: its first bytes (from byte 0) are not a gzip header`;
      throw new FatalError("input_gzip", message, {
        hint: "if it isn't compressed, rename it without .gz",
      });
    }
    chunks = gunzip(chunks, name);
  }

  ({ head, chunks } = await peek(chunks, showsKind));
  if (looksLikeWorkbook(head)) {
    const { workbookRows } = await import("./workbook-rows.js");
    return workbookRows(chunks, { name, sheet, warnings });
  }
  if (sheet !== undefined) {
    const message = `${name} has no sheet ${JSON.stringify(sheet)}: it is no workbook`;
    throw new UsageError("no_workbook", message, { hint: "leave out --sheet" });
  }
  const start = head.toString("latin1", 0, 3);
  const utf16 = utf16Marks.find(([mark]) => start.startsWith(mark))?.[1];
  if (utf16 !== undefined) warnings.push(`the input is ${utf16}; converted to UTF-8`);
  const found = utf16 ?? encoding;
  if (found !== undefined) chunks = transcode(chunks, found, name);
  else if (start === utf8Mark) {
    await chunks.next();
    chunks = continued([head.subarray(utf8Mark.length)], chunks);
  }
  if (json === undefined) return chunks;

  // A document on one line is one only if nothing follows.
  const enough = json === "named" ? /\S\s*\n\s*\S/ : /\n/;
  ({ head, chunks } = await peek(
    chunks,
    (bytes) => bytes.length >= limits.headBytes || enough.test(bytes.toString("latin1")),
  ));
  if (!startsDocument(head, json === "named")) return chunks;
  const { jsonLines } = await import("./json-lines.js");
  return jsonLines(chunks, name, warnings);
}

const archive = "PK\u0003\u0004";

const headBytes = 64;

/** Whether these bytes are enough to tell a mark and a workbook. */
function showsKind(head: Buffer): boolean {
  const start = head.toString("latin1", 0, archive.length);
  return head.length >= (start === archive ? headBytes : archive.startsWith(start) ? 4 : 3);
}

/** Whether bytes start like an Office document: a ZIP archive of certain files. */
function looksLikeWorkbook(head: Buffer): boolean {
  return /^PK\x03\x04.{26}(?:\[Content_Types\]|_rels\/|docProps\/|xl\/)/s.test(
    head.toString("latin1", 0, headBytes),
  );
}

/** Whether bytes start like gzip data (RFC 1952, section 2.3.1: ID1, ID2). */
function looksGzipped(head: Buffer): boolean {
  return head[0] === 0x1f && head[1] === 0x8b;
}

/**
 * Decompresses gzip data with any number of members (RFC 1952, section 2.2). Ignores zeros after the
 * last member, which pad files on tapes and block devices. After an error, the last data before it may
 * be missing: zlib drops what it decompressed from the same chunk.
 */
export async function* gunzip(
  compressed: AsyncGenerator<Buffer>,
  name: string,
): AsyncGenerator<Buffer> {
  const inflater = createGunzip({ chunkSize: 65_536 });
  let fed = 0;
  /** Offset after the last byte that is not zero. */
  let filled = 0;
  const feeding = pipeline(async function* () {
    for await (const chunk of compressed) {
      const last = chunk.findLastIndex((byte) => byte !== 0);
      if (last >= 0) filled = fed + last + 1;
      fed += chunk.length;
      yield chunk;
    }
  }, inflater);
  // It also fails when the reader stops early.
  feeding.catch(() => undefined);
  try {
    yield* inflater.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
    await feeding;
  } catch (error) {
    throw error instanceof ReputeError ? error : gzipError(name, fed, error as Error);
  } finally {
    inflater.destroy();
  }
  // zlib stops at the first zero after a member.
  const end = inflater.bytesWritten;
  if (filled <= end) return;
  throw damagedGzip(`${name} has trailing garbage: its gzip data ends at byte ${end}`);
}

function gzipError(name: string, fed: number, cause: NodeJS.ErrnoException): FatalError {
  const { code, message } = cause;
  // The first member has a header, so it is a later one that has none, or that comes after zeros.
  const isGarbage = message === "incorrect header check" || code === "ERR_STREAM_PUSH_AFTER_EOF";
  let what = `is damaged: invalid gzip data before byte ${fed} (${message})`;
  if (isGarbage) what = `has trailing garbage: its gzip data ends before byte ${fed}`;
  if (code === "Z_BUF_ERROR")
    what = `is truncated or has trailing garbage: it ends at byte ${fed}, within gzip data`;
  return damagedGzip(`${name} ${what}`, cause);
}

function damagedGzip(message: string, cause?: Error): FatalError {
  return new FatalError("input_gzip", message, {
    cause,
    hint: "fetch or write the file again; `gzip -t FILE` checks it; to use the readable part: `zcat FILE | repute enrich`",
  });
}

const utf8Mark = "\xef\xbb\xbf";

const utf16Marks = [
  ["\xff\xfe", "UTF-16LE"],
  ["\xfe\xff", "UTF-16BE"],
] as const;

/**
 * Converts to UTF-8 without byte order mark. Invalid UTF-16 becomes U+FFFD; of other encodings,
 * nothing is replaced.
 */
async function* transcode(
  chunks: AsyncGenerator<Buffer>,
  encoding: string,
  name: string,
): AsyncGenerator<Buffer> {
  const isUtf16 = new TextDecoder(encoding).encoding.startsWith("utf-16");
  const decoder = new TextDecoder(encoding, { fatal: !isUtf16 });
  let offset = 0;
  const decode = (chunk?: Buffer): Buffer => {
    try {
      return Buffer.from(decoder.decode(chunk, { stream: chunk !== undefined }), "utf8");
    } catch (error) {
      const message = `${name} is not ${encoding}: see from byte ${offset} on`;
      const hint = "name another encoding with --encoding";
      throw new FatalError("input_encoding", message, { cause: error, hint });
    }
  };
  for await (const chunk of chunks) {
    const text = decode(chunk);
    if (text.length > 0) yield text;
    offset += chunk.length;
  }
  const rest = decode();
  if (rest.length > 0) yield rest;
}

/**
 * Whether an input begins a JSON document rather than NDJSON.
 *
 * @param isNamed its name or a flag says that it is JSON, so that one line may be a document
 */
export function startsDocument(head: Buffer, isNamed: boolean): boolean {
  const text = head.toString("utf8", 0, limits.headBytes).trimStart();
  if (text.startsWith("[")) return /^\[\s*(?:[{"\]]|$)/.test(text) || isNamed;
  if (!text.startsWith("{")) return false;
  const end = text.indexOf("\n");
  if (end === -1 && head.length >= limits.headBytes) return isNamed;
  const line = (end === -1 ? text : text.slice(0, end)).trim();
  const object = parseObject(line.replace(/\}\s*,$/, "}"));
  if (object === null) return /^\{(?:.*[{[,:])?$/.test(line);
  return isNamed && text.slice(line.length).trim() === "" && !isRow(object);
}

/** Whether an object on the only line is a row: it has a plain value, and no list of objects. */
function isRow(object: object): boolean {
  const values: unknown[] = Object.values(object);
  const isNested = (value: unknown): boolean => typeof value === "object" && value !== null;
  const isList = (value: unknown): boolean => Array.isArray(value) && isNested(value[0]);
  return !values.some(isList) && !values.every(isNested);
}

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
