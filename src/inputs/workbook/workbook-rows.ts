import { crc32 } from "node:zlib";
import type * as Fflate from "fflate";
import { FatalError, ReputeError, UsageError } from "../../core/errors.js";
import { loadDriver } from "../../core/load-driver.js";
import { localName, SheetReader, textsOf, type XmlReader } from "./sheet-reader.js";
import { dateStyles } from "./date-styles.js";

/** A compressed workbook is read into memory, up to this size. */
const mostBytes = 256 * 1024 * 1024;

const pieceBytes = 16 * 1024;

type Zip = typeof Fflate;

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
  const what = "reading an Excel workbook";
  const zip = await loadDriver("fflate", () => import("fflate"), what);
  const { SaxesParser } = await loadDriver("saxes", () => import("saxes"), what);
  const packed = await collect(chunks, name);
  const newParser: XmlReader = () => new SaxesParser({ xmlns: false });
  try {
    const workbook = new Workbook(zip, packed, newParser);
    const path = workbook.sheetPath(name, sheet);
    const reader = new SheetReader(newParser(), workbook.facts());
    const expected = checksumsIn(packed).get(path);
    return rowsOf(reader, () => unpack(zip, packed, { path, expected }), name);
  } catch (error) {
    throw unreadable(name, error);
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

async function* rowsOf(
  reader: SheetReader,
  unpacked: () => Iterable<string>,
  name: string,
): AsyncGenerator<Buffer> {
  try {
    for (const xml of unpacked()) {
      const rows = reader.read(xml);
      if (rows !== "") yield Buffer.from(rows);
    }
    reader.end();
  } catch (error) {
    throw unreadable(name, error);
  }
}

function* unpack(
  { Unzip, UnzipInflate }: Zip,
  packed: Buffer,
  { path, expected }: { readonly path: string; readonly expected: number | undefined },
): Generator<string> {
  let checksum = 0;
  const unpacked = { texts: [] as string[], isOver: false };
  const decoder = new TextDecoder();
  const unzip = new Unzip((file) => {
    if (file.name !== path) return;
    file.ondata = (error, data, isLast) => {
      if (error !== null) throw error;
      checksum = crc32(data, checksum);
      unpacked.texts.push(decoder.decode(data, { stream: true }));
      unpacked.isOver = isLast;
    };
    file.start();
  });
  unzip.register(UnzipInflate);
  for (let at = 0; at < packed.length && !unpacked.isOver; at += pieceBytes) {
    unzip.push(packed.subarray(at, at + pieceBytes), at + pieceBytes >= packed.length);
    yield* unpacked.texts.splice(0);
  }
  if (!unpacked.isOver) throw new Error("its sheet is cut off");
  mustMatch(path, checksum, expected);
}

/** The CRC-32 of each file of an archive, from its central directory (APPNOTE.TXT, 4.3.12 and 4.3.16). */
function checksumsIn(packed: Buffer): ReadonlyMap<string, number> {
  const checksums = new Map<string, number>();
  let at = packed.readUInt32LE(packed.lastIndexOf("PK\u0005\u0006", undefined, "latin1") + 16);
  while (packed.toString("latin1", at, at + 4) === "PK\u0001\u0002") {
    const end = at + 46 + packed.readUInt16LE(at + 28);
    checksums.set(packed.toString("utf8", at + 46, end), packed.readUInt32LE(at + 16));
    at = end + packed.readUInt16LE(at + 30) + packed.readUInt16LE(at + 32);
  }
  return checksums;
}

function mustMatch(path: string, checksum: number, expected = checksum): void {
  if (checksum !== expected) throw new Error(`the checksum of ${path} does not match`);
}

class Workbook {
  readonly #files: Readonly<Record<string, Uint8Array>>;
  readonly #newParser: XmlReader;

  constructor({ unzipSync }: Zip, packed: Buffer, newParser: XmlReader) {
    this.#files = unzipSync(packed, {
      filter: ({ name }) =>
        /^xl\/(?:(?:workbook|styles|sharedStrings)\.xml|_rels\/workbook\.xml\.rels)$/.test(name),
    });
    const checksums = checksumsIn(packed);
    for (const [path, content] of Object.entries(this.#files)) {
      mustMatch(path, crc32(content), checksums.get(path));
    }
    this.#newParser = newParser;
  }

  sheetPath(input: string, wanted: string | undefined): string {
    if (this.#files["xl/workbook.xml"] === undefined) {
      throw new UsageError(
        "input_binary",
        `${input} is an Office document without sheets; repute reads CSV, TSV, NDJSON and lists of items`,
        { hint: "convert it to one of these" },
      );
    }
    const sheets = this.#elements("xl/workbook.xml", "sheet");
    const found = wanted === undefined ? sheets[0] : sheets.find(({ name }) => name === wanted);
    if (found === undefined) {
      const names = sheets.map(({ name }) => JSON.stringify(name)).join(", ");
      throw new UsageError(
        "sheet_not_found",
        `${input} has no sheet ${JSON.stringify(wanted ?? "")}; it has ${names}`,
        {
          hint: "name one of them with --sheet",
        },
      );
    }
    const targets = this.#elements("xl/_rels/workbook.xml.rels", "Relationship");
    const target = targets.find(({ Id }) => Id === found["r:id"])?.["Target"] ?? "";
    return target.startsWith("/") ? target.slice(1) : `xl/${target}`;
  }

  facts(): {
    readonly texts: readonly string[];
    readonly dates: readonly boolean[];
    readonly is1904: boolean;
  } {
    const [properties] = this.#elements("xl/workbook.xml", "workbookPr");
    const formats = this.#elements("xl/styles.xml", "numFmt");
    const styles = this.#elements("xl/styles.xml", "xf", "cellXfs");
    return {
      texts: textsOf(this.#newParser(), this.#text("xl/sharedStrings.xml")),
      dates: dateStyles(styles, formats),
      is1904: ["1", "true"].includes(properties?.["date1904"] ?? ""),
    };
  }

  #text(path: string): string {
    return Buffer.from(this.#files[path] ?? []).toString("utf8");
  }

  /** The attributes of elements of a name, anywhere or in another one. */
  #elements(
    path: string,
    name: string,
    within: string | null = null,
  ): readonly Readonly<Record<string, string>>[] {
    const found: Record<string, string>[] = [];
    let depth = within === null ? 1 : 0;
    const parser = this.#newParser();
    parser.on("opentag", (tag) => {
      if (localName(tag.name) === within) depth += 1;
      if (localName(tag.name) === name && depth > 0) found.push(tag.attributes);
    });
    parser.on("closetag", (tag) => {
      if (localName(tag.name) === within) depth -= 1;
    });
    const text = this.#text(path);
    if (text !== "") parser.write(text).close();
    return found;
  }
}

function unreadable(name: string, error: unknown): ReputeError {
  if (error instanceof ReputeError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new FatalError("input_workbook", `${name} is a damaged workbook: ${reason}`, {
    cause: error,
    hint: "save it again, or save the sheet as CSV",
  });
}
