import { text } from "node:stream/consumers";
import { crc32, createInflateRaw } from "node:zlib";
import type { SaxesParser } from "saxes";
import { FatalError, ReputeError, UsageError } from "../../../core/errors.js";
import { loadDriver } from "../../../core/load-driver.js";
import { dateStyles, localName, type SheetFacts, SheetReader, textsOf } from "./sheet-reader.js";

/** A compressed workbook is read into memory, up to this size. */
const mostBytes = 256 * 1024 * 1024;

/**
 * Reads the rows of a sheet of an Excel workbook (ECMA-376, part 1) as CSV. The compressed file and
 * its texts stay in memory, the sheet does not.
 *
 * @param sheet its name; by default the first one
 * @throws UsageError `input_binary`, `sheet_not_found`, `driver_missing`
 * @throws FatalError `input_workbook`
 */
export async function workbookRows(
  chunks: AsyncGenerator<Buffer>,
  name: string,
  sheet: string | undefined,
): Promise<AsyncGenerator<Buffer>> {
  const { SaxesParser } = await loadDriver(
    "saxes",
    () => import("saxes"),
    "reading an Excel workbook",
  );
  const newParser = (): SaxesParser => new SaxesParser({ xmlns: false });
  const archive = await collect(chunks, name);
  try {
    const files = filesIn(archive);
    const xmlOf = async (path: string): Promise<string> =>
      files.has(path) ? text(contentOf(files, path)) : "";
    const workbook = await xmlOf("xl/workbook.xml");
    const styles = await xmlOf("xl/styles.xml");
    const targets = elements(newParser(), await xmlOf(relationships), "Relationship");
    const { id, date1904 } = sheetIn(newParser, workbook, name, sheet);
    const target = targets.find(({ Id }) => Id === id)?.["Target"] ?? "";
    const facts: SheetFacts = {
      texts: textsOf(newParser(), await xmlOf("xl/sharedStrings.xml")),
      dates: dateStyles(
        elements(newParser(), styles, "xf", "cellXfs"),
        elements(newParser(), styles, "numFmt"),
      ),
      is1904: ["1", "true"].includes(date1904),
    };
    const path = target.startsWith("/") ? target.slice(1) : `xl/${target}`;
    return rowsOf(new SheetReader(newParser(), facts), contentOf(files, path), name);
  } catch (error) {
    throw unreadable(name, error);
  }
}

const relationships = "xl/_rels/workbook.xml.rels";

async function collect(chunks: AsyncGenerator<Buffer>, name: string): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    pieces.push(chunk);
    length += chunk.length;
    if (length <= mostBytes) continue;
    throw new FatalError("input_workbook", `${name} is larger than the limit of 256 MiB`, {
      hint: "save the sheet as CSV",
    });
  }
  return Buffer.concat(pieces);
}

async function* rowsOf(
  reader: SheetReader,
  content: AsyncGenerator<Buffer>,
  name: string,
): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder();
  try {
    for await (const xml of content) {
      const rows = reader.read(decoder.decode(xml, { stream: true }));
      if (rows !== "") yield Buffer.from(rows);
    }
    reader.end();
  } catch (error) {
    throw unreadable(name, error);
  }
}

/** A file of an archive. */
interface PackedFile {
  readonly bytes: Buffer;
  readonly isDeflated: boolean;
  readonly crc: number;
}

/**
 * The files of a ZIP archive, from its central directory (APPNOTE.TXT, 4.3.7, 4.3.12 and 4.3.14 to
 * 4.3.16). Programs that write as they go use the fields of ZIP64 for small files, too.
 */
function filesIn(archive: Buffer): ReadonlyMap<string, PackedFile> {
  const files = new Map<string, PackedFile>();
  const end = archive.lastIndexOf("PK\u0005\u0006", undefined, "latin1");
  if (end === -1) throw new Error("it is cut off");
  let at = archive.readUInt32LE(end + 16);
  if (at === in64Bits) at = numberAt(archive, numberAt(archive, end - 12) + 48);
  while (archive.toString("latin1", at, at + 4) === "PK\u0001\u0002") {
    const nameEnd = at + 46 + archive.readUInt16LE(at + 28);
    const extraEnd = nameEnd + archive.readUInt16LE(at + 30);
    const [, packed, header] = sizesAndOffset(archive, at, archive.subarray(nameEnd, extraEnd));
    const lengths = archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
    const start = header + 30 + lengths;
    files.set(archive.toString("utf8", at + 46, nameEnd), {
      bytes: archive.subarray(start, start + packed),
      isDeflated: archive.readUInt16LE(at + 10) !== 0,
      crc: archive.readUInt32LE(at + 16),
    });
    at = extraEnd + archive.readUInt16LE(at + 32);
  }
  return files;
}

/** Stands for a number of 64 bits elsewhere. */
const in64Bits = 0xffffffff;

/** The original and the packed size of a file, and the offset of its header (APPNOTE.TXT, 4.5.3). */
function sizesAndOffset(
  archive: Buffer,
  entry: number,
  extra: Buffer,
): readonly [size: number, packed: number, header: number] {
  let at = 0;
  while (at + 4 <= extra.length && extra.readUInt16LE(at) !== 1)
    at += 4 + extra.readUInt16LE(at + 2);
  at += 4;
  const read = (field: number): number => {
    const number = archive.readUInt32LE(entry + field);
    if (number !== in64Bits) return number;
    at += 8;
    return numberAt(extra, at - 8);
  };
  return [read(24), read(20), read(42)];
}

function numberAt(bytes: Buffer, at: number): number {
  return Number(bytes.readBigUInt64LE(at));
}

async function* contentOf(
  files: ReadonlyMap<string, PackedFile>,
  path: string,
): AsyncGenerator<Buffer> {
  const file = files.get(path);
  if (file === undefined) throw new Error(`it has no file ${path}`);
  let checksum = 0;
  const chunks = file.isDeflated ? createInflateRaw().end(file.bytes) : [file.bytes];
  for await (const chunk of chunks as AsyncIterable<Buffer>) {
    checksum = crc32(chunk, checksum);
    yield chunk;
  }
  if (checksum !== file.crc) throw new Error(`the checksum of ${path} does not match`);
}

function sheetIn(
  newParser: () => SaxesParser,
  workbook: string,
  input: string,
  wanted: string | undefined,
): { readonly id: string | undefined; readonly date1904: string } {
  if (workbook === "") {
    throw new UsageError(
      "input_binary",
      `${input} is an Office document without sheets; repute reads CSV, TSV, NDJSON and lists of items`,
      { hint: "convert it to one of these" },
    );
  }
  const sheets = elements(newParser(), workbook, "sheet");
  const [properties] = elements(newParser(), workbook, "workbookPr");
  const found = wanted === undefined ? sheets[0] : sheets.find(({ name }) => name === wanted);
  if (found !== undefined) return { id: found["r:id"], date1904: properties?.["date1904"] ?? "" };
  const names = sheets.map(({ name }) => JSON.stringify(name)).join(", ");
  throw new UsageError(
    "sheet_not_found",
    `${input} has no sheet ${JSON.stringify(wanted ?? "")}; it has ${names}`,
    { hint: "name one of them with --sheet" },
  );
}

/** The attributes of elements of a name, anywhere or in another one. */
function elements(
  parser: SaxesParser,
  xml: string,
  name: string,
  within: string | null = null,
): readonly Readonly<Record<string, string>>[] {
  const found: Record<string, string>[] = [];
  let depth = within === null ? 1 : 0;
  parser.on("opentag", (tag) => {
    if (localName(tag.name) === within) depth += 1;
    if (localName(tag.name) === name && depth > 0) found.push(tag.attributes);
  });
  parser.on("closetag", (tag) => {
    if (localName(tag.name) === within) depth -= 1;
  });
  if (xml !== "") parser.write(xml).close();
  return found;
}

function unreadable(name: string, error: unknown): ReputeError {
  if (error instanceof ReputeError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new FatalError("input_workbook", `${name} is a damaged workbook: ${reason}`, {
    cause: error,
    hint: "save it again, or save the sheet as CSV",
  });
}
