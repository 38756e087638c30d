import { text } from "node:stream/consumers";
import { crc32, createInflateRaw } from "node:zlib";
import type { SaxesParser } from "saxes";
import { FatalError, ReputeError, UsageError } from "../../core/errors.js";
import { loadDriver } from "../../core/load-driver.js";

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

interface SheetFacts {
  readonly texts: readonly string[];
  readonly dates: readonly boolean[];
  readonly is1904: boolean;
}

/** Converts the XML of a sheet into CSV. A row that is missing is a blank line. */
class SheetReader {
  readonly #parser: SaxesParser;
  readonly #facts: SheetFacts;
  #cells: string[] = [];
  #line = 0;
  #row = 0;
  #column = -1;
  #type = "n";
  #style = 0;
  #value = "";
  #isValue = false;
  #csv = "";

  constructor(parser: SaxesParser, facts: SheetFacts) {
    this.#parser = parser;
    this.#facts = facts;
    parser.on("opentag", ({ name, attributes }) =>
      this.#open(localName(name), attributes as Attributes),
    );
    parser.on("text", (text) => {
      if (this.#isValue) this.#value += text;
    });
    parser.on("closetag", ({ name }) => this.#close(localName(name)));
  }

  read(xml: string): string {
    this.#csv = "";
    this.#parser.write(xml);
    return this.#csv;
  }

  end(): void {
    this.#parser.close();
  }

  #open(name: string, attributes: Attributes): void {
    if (name === "v" || name === "t") {
      this.#isValue = true;
    } else if (name === "row") {
      this.#row = Number(attributes["r"] ?? this.#row + 1);
      this.#column = -1;
    } else if (name === "c") {
      const { r, t = "n", s = "0" } = attributes;
      this.#column = r === undefined ? this.#column + 1 : columnOf(r);
      this.#type = t;
      this.#style = Number(s);
      this.#value = "";
    }
  }

  #close(name: string): void {
    if (name === "v" || name === "t") {
      this.#isValue = false;
    } else if (name === "c") {
      if (this.#value === "") return;
      while (this.#cells.length < this.#column) this.#cells.push("");
      this.#cells[this.#column] = this.#text();
    } else if (name === "row") {
      while (this.#line < this.#row - 1) this.#endLine("");
      this.#endLine(this.#cells.map(quoted).join(","));
      this.#cells = [];
    }
  }

  #endLine(text: string): void {
    this.#csv += `${text}\n`;
    this.#line += 1;
  }

  #text(): string {
    const { texts, dates, is1904 } = this.#facts;
    const value = this.#value;
    if (this.#type === "s") return texts[Number(value)] ?? "";
    if (this.#type === "b") return value === "1" ? "true" : "false";
    if (this.#type !== "n") return value;
    const number = Number(value);
    if (dates[this.#style] === true) return dateText(number, is1904) ?? value;
    // 0.1 + 0.2 is stored with 17 digits and shown with 15.
    return /[.e]/i.test(value) && Number.isFinite(number)
      ? String(Number(number.toPrecision(15)))
      : value;
  }
}

type Attributes = Readonly<Record<string, string>>;

/** A name without its prefix: some programs write `x:row`. */
function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

/** Index of the column in a reference such as `AB12`. */
function columnOf(reference: string): number {
  let column = 0;
  for (const letter of reference.replace(/\d+$/, ""))
    column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}

function quoted(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The shared texts of a workbook, without phonetic readings. */
function textsOf(parser: SaxesParser, xml: string): readonly string[] {
  const texts: string[] = [];
  let text = "";
  let isText = false;
  let isPhonetic = false;
  parser.on("opentag", (tag) => {
    const name = localName(tag.name);
    if (name === "si") text = "";
    if (name === "rPh") isPhonetic = true;
    if (name === "t") isText = !isPhonetic;
  });
  parser.on("text", (piece) => {
    if (isText) text += piece;
  });
  parser.on("closetag", (tag) => {
    const name = localName(tag.name);
    if (name === "t") isText = false;
    if (name === "rPh") isPhonetic = false;
    if (name === "si") texts.push(text);
  });
  if (xml !== "") parser.write(xml).close();
  return texts;
}

/** Built-in number formats that show dates and times (ECMA-376, part 1, section 18.8.30). */
const builtIn = (id: number): boolean =>
  (id >= 14 && id <= 22) ||
  (id >= 27 && id <= 36) ||
  (id >= 45 && id <= 47) ||
  (id >= 50 && id <= 58);

/** Which cell styles show their number as a date, by index. */
function dateStyles(
  styles: readonly Attributes[],
  formats: readonly Attributes[],
): readonly boolean[] {
  const custom = new Set(
    formats.filter(({ formatCode = "" }) => showsDate(formatCode)).map(({ numFmtId }) => numFmtId),
  );
  return styles.map(({ numFmtId = "0" }) => custom.has(numFmtId) || builtIn(Number(numFmtId)));
}

/** Letters of a date outside quotes, colours and conditions; `[h]` counts hours. */
function showsDate(format: string): boolean {
  const bare = format.replaceAll(/"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, "");
  return /[ymdhs]/i.test(bare) && !/general/i.test(bare);
}

const dayMs = 86_400_000;

/** A day number as an ISO date, with the time if it has one; a time without a day as a time. */
function dateText(days: number, is1904: boolean): string | null {
  // Day 60 of Excel is 29 February 1900, which did not exist.
  const shift = is1904 ? 24_107 : days < 60 ? 25_568 : 25_569;
  const ms = Math.round(((days - shift) * dayMs) / 1000) * 1000;
  const date = new Date(ms);
  if (!Number.isFinite(days) || days < 0 || Number.isNaN(date.getTime())) return null;
  const [day = "", time = ""] = date.toISOString().slice(0, 19).split("T");
  if (days < 1 && !is1904) return time;
  return time === "00:00:00" ? day : `${day}T${time}`;
}
