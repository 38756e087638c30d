import { crc32 } from "node:zlib";
import type { SaxesParser as Parser } from "saxes";
import type { Entry, ZipFile } from "yauzl";
import { FatalError, ReputeError, UsageError } from "../../core/errors.js";
import { loadDriver } from "../../core/load-driver.js";
import { firstNames } from "../../core/wording/quantity.js";
import { csvPieces } from "../formats/csv/csv-output.js";

/** A compressed workbook is read into memory, up to this size. */
const mostBytes = 256 * 1024 * 1024;

interface SheetChoice {
  /** Of the workbook, for messages. */
  readonly name: string;
  /** @default the first one */
  readonly sheet: string | undefined;
  /** Receives a warning if other sheets are not read. */
  readonly warnings: string[];
}

/**
 * Reads the rows of a sheet of an Excel workbook (ECMA-376, part 1) as CSV. The compressed file and
 * its texts stay in memory, the sheet does not.
 *
 * @throws UsageError `input_binary`, `sheet_not_found`, `driver_missing`
 * @throws FatalError `input_workbook`
 */
export async function* workbookRows(
  chunks: AsyncGenerator<Buffer>,
  asked: SheetChoice,
): AsyncGenerator<Buffer> {
  const { name } = asked;
  const what = "reading an Excel workbook";
  const { SaxesParser } = await loadDriver("saxes", () => import("saxes"), what);
  const { fromBufferPromise } = await loadDriver("yauzl", () => import("yauzl"), what);
  const bytes = await collect(chunks, name);
  try {
    const zip = await fromBufferPromise(wholeArchive(bytes), { autoClose: false });
    const read = await readerOf(zip, () => new SaxesParser({ xmlns: false }));
    yield* rowsIn(read, asked);
  } catch (error) {
    if (error instanceof ReputeError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new FatalError("input_workbook", `${name} is a damaged workbook: ${reason}`, {
      cause: error,
      hint: "save it again, or save the sheet as CSV",
    });
  }
}

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

/** An archive without what programs append after its end record (APPNOTE.TXT, 4.3.16). */
function wholeArchive(bytes: Buffer): Buffer {
  const end = bytes.lastIndexOf("PK\u0005\u0006", undefined, "latin1");
  if (end === -1 || end + 22 > bytes.length) throw new Error("it is cut off");
  return bytes.subarray(0, end + 22 + bytes.readUInt16LE(end + 20));
}

type Attributes = Readonly<Record<string, string>>;

interface Element {
  readonly tag: string;
  readonly attributes: Attributes;
  readonly parent: string | undefined;
  /** What follows its last child. */
  readonly text: string;
}

/** Reads a file of a workbook: the elements that end in each piece of it. */
type Read = (path: string, optional?: "optional") => AsyncGenerator<readonly Element[]>;

async function readerOf(zip: ZipFile, newParser: () => Parser): Promise<Read> {
  const entries = new Map<string, Entry>();
  for await (const entry of zip.eachEntry()) entries.set(entry.fileName, entry);
  return async function* (path, optional) {
    const entry = entries.get(path);
    if (entry === undefined && optional) return;
    if (entry === undefined) throw new Error(`it has no file ${path}`);
    const parser = newParser();
    const open: string[] = [];
    const ended: Element[] = [];
    let text = "";
    parser.on("opentag", ({ name }) => {
      // Some programs write `x:row`.
      open.push(name.slice(name.indexOf(":") + 1));
      text = "";
    });
    parser.on("text", (piece) => (text += piece));
    parser.on("closetag", ({ attributes }) => {
      ended.push({ tag: open.pop()!, attributes, parent: open.at(-1), text });
      text = "";
    });
    const decoder = new TextDecoder();
    let checksum = 0;
    const content: AsyncIterable<Buffer> = await zip.openReadStreamPromise(entry);
    for await (const chunk of content) {
      checksum = crc32(chunk, checksum);
      parser.write(decoder.decode(chunk, { stream: true }));
      yield ended.splice(0);
    }
    if (checksum !== entry.crc32) throw new Error(`the checksum of ${path} does not match`);
    parser.close();
  };
}

interface SheetFacts {
  readonly texts: readonly string[];
  readonly dates: readonly boolean[];
  readonly is1904: boolean;
}

/** The rows of a sheet as CSV. The workbook names its file; texts and styles have fixed paths. */
async function* rowsIn(read: Read, { name, sheet, warnings }: SheetChoice): AsyncGenerator<Buffer> {
  const workbook = await elementsOf(read, "xl/workbook.xml");
  const styles = await elementsOf(read, "xl/styles.xml");
  const targets = await elementsOf(read, "xl/_rels/workbook.xml.rels");
  const sheets = attributesOf(workbook, "sheet");
  const id = sheetId(sheets, name, sheet);
  const others = sheets.slice(1).filter(({ state }) => state === undefined || state === "visible");
  if (sheet === undefined && others.length > 0) {
    const names = namesOf(others, 10);
    warnings.push(`only the first sheet of ${name} is read; --sheet reads another: ${names}`);
  }
  const target =
    attributesOf(targets, "Relationship").find(({ Id }) => Id === id)?.["Target"] ?? "";
  const path = target.startsWith("/") ? target.slice(1) : `xl/${target}`;
  const facts: SheetFacts = {
    texts: await textsOf(read),
    dates: dateStyles(attributesOf(styles, "xf", "cellXfs"), attributesOf(styles, "numFmt")),
    is1904: /^(?:1|true)$/.test(attributesOf(workbook, "workbookPr")[0]?.["date1904"] ?? ""),
  };
  const rowsOf = rowReader(facts);
  for await (const elements of read(path)) {
    for (const piece of csvPieces(",", rowsOf(elements), String)) yield Buffer.from(piece);
  }
}

async function elementsOf(read: Read, path: string): Promise<readonly Element[]> {
  const found: Element[] = [];
  for await (const elements of read(path, "optional")) found.push(...elements);
  return found;
}

/** The attributes of all elements with a name, or of the children of another element alone. */
function attributesOf(
  elements: readonly Element[],
  name: string,
  within?: string,
): readonly Attributes[] {
  return elements
    .filter(({ tag, parent }) => tag === name && (within === undefined || parent === within))
    .map(({ attributes }) => attributes);
}

function sheetId(
  sheets: readonly Attributes[],
  input: string,
  wanted: string | undefined,
): string | undefined {
  if (sheets.length === 0) {
    const readable = "repute reads CSV, TSV, NDJSON and lists of items";
    const message = `${input} is an Office document without sheets; ${readable}`;
    throw new UsageError("input_binary", message, { hint: "convert it to one of these" });
  }
  const found = wanted === undefined ? sheets[0] : sheets.find(({ name }) => name === wanted);
  if (found !== undefined) return found["r:id"];
  const message = `${input} has no sheet ${JSON.stringify(wanted)}; it has ${namesOf(sheets)}`;
  throw new UsageError("sheet_not_found", message, { hint: "name one of them with --sheet" });
}

function namesOf(sheets: readonly Attributes[], most = sheets.length): string {
  return firstNames(
    sheets.map(({ name }) => JSON.stringify(name)),
    most,
  );
}

/** The shared texts of a workbook, without phonetic readings. */
async function textsOf(read: Read): Promise<readonly string[]> {
  const texts: string[] = [];
  let own = "";
  for await (const elements of read("xl/sharedStrings.xml", "optional")) {
    for (const { tag, parent, text } of elements) {
      if (tag === "t" && parent !== "rPh") own += text;
      if (tag !== "si") continue;
      texts.push(own);
      own = "";
    }
  }
  return texts;
}

/** Returns a function that makes rows of the elements of a sheet. A row that is missing is empty. */
function rowReader(facts: SheetFacts): (elements: readonly Element[]) => string[][] {
  let [written, row, column] = [0, 0, -1];
  let cells: string[] = [];
  let value = "";
  return (elements) => {
    const rows: string[][] = [];
    for (const { tag, attributes, text } of elements) {
      const place = attributes["r"];
      if (tag === "v" || tag === "t") value += text;
      else if (tag === "c") {
        column = place === undefined ? column + 1 : columnOf(place);
        if (value === "") continue;
        while (cells.length < column) cells.push("");
        cells[column] = cellText(value, attributes, facts);
        value = "";
      } else if (tag === "row") {
        row = Number(place ?? row + 1);
        for (; written < row - 1; written++) rows.push([]);
        rows.push(cells);
        written += 1;
        [cells, column] = [[], -1];
      }
    }
    return rows;
  };
}

/** Index of the column in a reference such as `AB12`. */
function columnOf(reference: string): number {
  let column = 0;
  for (const letter of reference.replace(/\d+$/, ""))
    column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}

function cellText(
  value: string,
  { t: type = "n", s: style = "0" }: Attributes,
  { texts, dates, is1904 }: SheetFacts,
): string {
  if (type === "s") return texts[Number(value)] ?? "";
  if (type === "b") return value === "1" ? "true" : "false";
  if (type !== "n") return value;
  const number = Number(value);
  if (dates[Number(style)] === true) return dateText(number, is1904) ?? value;
  // 0.1 + 0.2 is stored with 17 digits and shown with 15.
  return /[.e]/i.test(value) && Number.isFinite(number)
    ? String(Number(number.toPrecision(15)))
    : value;
}

/** Built-in number formats that show dates and times (ECMA-376, part 1, section 18.8.30). */
const dateFormats = [
  [14, 22],
  [27, 36],
  [45, 47],
  [50, 58],
] as const;

/** Which cell styles show their number as a date, by index. */
function dateStyles(
  styles: readonly Attributes[],
  formats: readonly Attributes[],
): readonly boolean[] {
  const custom = new Set(
    formats.filter(({ formatCode = "" }) => showsDate(formatCode)).map(({ numFmtId }) => numFmtId),
  );
  const isBuiltIn = (id: number): boolean =>
    dateFormats.some(([first, last]) => id >= first && id <= last);
  return styles.map(({ numFmtId = "0" }) => custom.has(numFmtId) || isBuiltIn(Number(numFmtId)));
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
