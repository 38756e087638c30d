import { mkdir, type FileHandle, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, systemClock } from "../../../core/clock.js";
import type { Row } from "../../../core/row.js";
import type { InputType } from "../../../io/formats/typed-column.js";
import { mapLists } from "../../../io/formats/reading/lines.js";
import type {
  RunInput,
  SeveralInputs,
  SourceInput,
  SourcePosition,
} from "../../../io/input/types.js";
import { outputFault } from "../../../io/output/output-fault.js";
import type { TableInput, TableReceiver } from "../../../io/input/table-input.js";
import { readingOf } from "../rows/reading.js";
import { openInputs, type SeveralReading } from "../rows/read-several.js";
import { detectSourceFormat } from "../../../io/formats/registry.js";
import { UsageError, FatalError, startOver } from "../../../core/errors.js";
import type { ReadingSettings, RowSource, CopyPlace, CopyForm, CopyFormat } from "../row-source.js";
import { openSealedJson, replaceFile, sealJson } from "../../../core/files/json-file.js";
import { counted } from "../../../core/wording/quantity.js";
import { verifyInput } from "../../../io/input/verify-input.js";
import { type ChecksumState, RunningChecksum } from "../../../core/files/checksum.js";
import { uniqueNames } from "../../../io/formats/ndjson/ndjson.js";
import { cellOf, type InputValue, jsonOf } from "../../../io/formats/input-values.js";

/** Options that apply only to text. */
const textOptions = {
  from: "--from",
  header: "--header",
  delimiter: "--delimiter",
  comment: "--comment",
  encoding: "--encoding",
  sheet: "--sheet",
} as const;

type FileInput = Extract<SourceInput, { readonly path: string }>;

/**
 * How inputs are read that are tables, or some of them. Each table is copied to the run's folder once,
 * to a folder of its own if there are several inputs; the run reads the copies.
 *
 * @param tables per input, the table that it names; null for text
 * @throws UsageError `text_option` if there is no text
 */
export function copiedReading(
  given: RunInput,
  tables: readonly (TableInput | null)[],
  settings: ReadingSettings,
  clock: Clock = systemClock,
): RowSource {
  const isSeveral = "inputs" in given;
  const inputs = isSeveral ? given.inputs : [{ name: "", input: given }];
  const texts = inputs.filter((_, index) => tables[index] === null);
  if (texts.length === 0) refuseTextOptions(tables[0]!, settings);
  const placeOf = (index: number, place: CopyPlace): CopyPlace => ({
    ...place,
    clock,
    ...(isSeveral && formBeside(texts, settings, place)),
    folder: isSeveral ? join(place.folder, `input-${index + 1}`) : place.folder,
  });
  const placed = (place: CopyPlace): readonly SeveralReading[] =>
    inputs.map((named, index) => {
      const table = tables[index] ?? null;
      const own = placeOf(index, place);
      const input = table === null ? named.input : copyOf(table, own);
      const read = (each: ReadingSettings): RowSource =>
        table === null ? readingOf(input, each, clock) : readTable(table, each, own);
      return { name: table?.name ?? named.name, input, read, reading: read(settings) };
    });
  return {
    ...readingOf(given, settings, clock),
    // Text outputs are CSV unless they are named otherwise.
    inputFormat: async () =>
      texts[0] === undefined ? "csv" : readingOf(texts[0].input, settings, clock).inputFormat(),
    open: () => Promise.reject(new TypeError("copy the tables first")),
    copied: {
      sources: inputs.map(
        ({ input }, index) =>
          tables[index] ?? { isTable: false, file: "path" in input ? input.path : null },
      ),
      inFolder(place) {
        const readings = placed(place);
        if (!isSeveral)
          return { input: readings[0]!.input, open: (resume) => readings[0]!.reading.open(resume) };
        return {
          input: { ...given, inputs: readings.map(({ name, input }) => ({ name, input })) },
          open: async (resume) => openInputs(readings, settings, resume),
        };
      },
      async make(place, isResumed) {
        for (const [index, table] of tables.entries()) {
          if (table === null) continue;
          const own = placeOf(index, place);
          await mkdir(own.folder, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
            throw outputFault(own.folder, error);
          });
          await copyOnce(table, own, isResumed);
        }
      },
    },
  };
}

/** Objects and rows do not mix: the copies are what the text is. */
function formBeside(
  texts: SeveralInputs["inputs"],
  { from }: ReadingSettings,
  { format, keepsNulls }: CopyForm,
): CopyForm {
  const [first] = texts;
  if (first === undefined) return { format, keepsNulls };
  const named = "path" in first.input ? detectSourceFormat(first.input.path).format : null;
  const isObjects = ["json", "ndjson"].includes(from ?? named ?? "");
  return { format: isObjects ? "ndjson" : "tsv", keepsNulls };
}

/** @throws UsageError `text_option` */
function refuseTextOptions(table: TableInput, settings: ReadingSettings): void {
  for (const name of Object.keys(textOptions) as (keyof typeof textOptions)[]) {
    if (settings[name] === undefined) continue;
    throw new UsageError(
      "text_option",
      `${textOptions[name]} applies only to text, and the input ${table.name} is none`,
      { hint: `leave out ${textOptions[name]}` },
    );
  }
}

interface CopyReading extends CopyForm {
  readonly clock?: Clock | undefined;
  /** The types of its columns. Called when the rows are opened. */
  readonly typesOf?: () => Promise<readonly InputType[] | undefined>;
}

function readTable(
  table: TableInput,
  settings: ReadingSettings,
  place: CopyReading & { readonly folder: string },
): RowSource {
  const { folder, format } = place;
  // Objects have the types in themselves.
  const typesOf = async () => (format === "ndjson" ? undefined : (await readSeal(folder))?.types);
  return readCopy(copyOf(table, place), settings, { ...place, typesOf });
}

/** The rows of a copy. */
function readCopy(
  input: FileInput,
  settings: ReadingSettings,
  { format, keepsNulls, clock, typesOf }: CopyReading,
): RowSource {
  const isText = format === "tsv";
  const own: ReadingSettings = {
    ...settings,
    from: format,
    header: isText ? true : undefined,
    delimiter: undefined,
    comment: undefined,
    encoding: undefined,
    sheet: undefined,
  };
  const reading = readingOf(input, own, clock);
  return {
    ...reading,
    async open(resume) {
      const source = await reading.open(
        resume && isText ? { ...resume, ...asTsv(resume) } : resume,
      );
      const facts = { kind: input.copyOf?.kind, types: await typesOf?.() };
      if (!isText) return { ...source, ...facts };
      return {
        ...source,
        ...facts,
        // Rejected rows are CSV.
        reading: { ...source.reading, format: "csv", delimiter: "," },
        rows: keepsNulls ? mapLists(source.rows, rowWithNulls) : source.rows,
      };
    },
  };
}

/** The copy of a table as input. */
function copyOf(
  { name, kind }: TableInput,
  { folder, format }: Pick<CopyPlace, "folder" | "format">,
): FileInput {
  return { path: copyPath(folder, format), copyOf: { name, kind } };
}

/** How the copy, a CSV file, is read. */
function asTsv({ reading }: Pick<SourcePosition, "reading">): Pick<SourcePosition, "reading"> {
  return { reading: { ...reading, format: "tsv", delimiter: "\t" } };
}

function rowWithNulls(row: Row): Row {
  const nulls = row.cells.map((cell) => cell === "");
  const { itemText, kindText } = row;
  return {
    ...row,
    nulls,
    cells: row.cells.map(cellText),
    itemText: cellText(itemText),
    kindText: cellText(kindText),
  };
}

function cellText(cell: string): string {
  return cell === emptyText ? "" : cell;
}

/** What a copy holds. */
interface CopySeal {
  readonly rows: number;
  readonly types: readonly InputType[];
  readonly content: ChecksumState;
}

/** Name of the file that holds it, beside the copy. */
const copySeal = "input.json";

/** Stands for an empty text in a TSV copy; an empty cell is null there. */
const emptyText = "\0";

/** Characters collected before they are written. */
const blockCharacters = 256 * 1024;

class CopyWriter implements TableReceiver {
  readonly #path: string;
  readonly #form: CopyForm;
  #file: FileHandle | null = null;
  #checksum = new RunningChecksum();
  #rows = 0;
  #types: readonly InputType[] = [];
  #text = "";
  #encode: (row: readonly InputValue[]) => string = () => "";

  constructor(path: string, form: CopyForm) {
    this.#path = path;
    this.#form = form;
  }

  async begin(columns: readonly string[], types: readonly InputType[]): Promise<void> {
    await this.close();
    this.#file = await this.#fault(open(this.#path, "w", 0o600));
    this.#checksum = new RunningChecksum();
    this.#rows = 0;
    this.#types = types;
    const { format, keepsNulls } = this.#form;
    this.#encode = format === "tsv" ? tsvRow(keepsNulls ? emptyText : "") : objectRow(columns);
    this.#text = format === "tsv" ? `${columns.map(quoted).join("\t")}\n` : "";
  }

  async rows(batch: readonly (readonly InputValue[])[]): Promise<void> {
    for (const row of batch) {
      this.#text += this.#encode(row);
      if (this.#text.length >= blockCharacters) await this.#write();
    }
    this.#rows += batch.length;
  }

  /** Makes the file durable. */
  async finish(): Promise<CopySeal> {
    await this.#write();
    await this.#fault(this.#file?.sync() ?? Promise.resolve());
    await this.close();
    return { rows: this.#rows, types: this.#types, content: this.#checksum.state() };
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await file?.close();
  }

  async #write(): Promise<void> {
    const bytes = Buffer.from(this.#text);
    this.#text = "";
    this.#checksum.update(bytes);
    await this.#fault(this.#file?.writeFile(bytes) ?? Promise.resolve());
  }

  #fault<T>(work: Promise<T>): Promise<T> {
    return work.catch((error: unknown) => {
      throw outputFault(this.#path, error);
    });
  }
}

/** Copies a table, or checks the copy that the interrupted run made. @throws ReputeError */
function copyOnce(table: TableInput, place: CopyPlace, isResumed: boolean): Promise<void> {
  return isResumed ? checkCopy(table, place) : makeCopy(table, place);
}

/** Path of a copy. */
function copyPath(folder: string, format: CopyFormat): string {
  return join(folder, `input.${format}`);
}

async function makeCopy(table: TableInput, place: CopyPlace): Promise<void> {
  const { folder, format, signal, clock, onWarning = () => undefined, onNotice } = place;
  const path = copyPath(folder, format);
  const writer = new CopyWriter(`${path}.new`, place);
  let seal: CopySeal;
  try {
    const options = { signal, folder, onWarning, ...(clock === undefined ? {} : { clock }) };
    await table.read(writer, options);
    seal = await writer.finish();
  } catch (error) {
    await writer.close();
    await rm(`${path}.new`, { force: true });
    throw signal.aborted ? signal.reason : error;
  }
  try {
    await rename(`${path}.new`, path);
    await replaceFile(join(folder, copySeal), sealJson({ ...seal }), 0o600);
  } catch (error) {
    throw outputFault(path, error);
  }
  onNotice?.(`read ${counted(seal.rows, "row")} from ${table.name}`);
}

/** What is known of a copy; null if it is incomplete. */
async function readSeal(folder: string): Promise<Partial<CopySeal> | null> {
  return readFile(join(folder, copySeal), "utf8").then(openSealedJson, () => null);
}

/** Checks the copy that an interrupted run made. @throws FatalError `copy_damaged` */
async function checkCopy({ name }: TableInput, { folder, format }: CopyPlace): Promise<void> {
  const path = copyPath(folder, format);
  const { content } = (await readSeal(folder)) ?? {};
  const damaged = (what: string, cause?: unknown): FatalError =>
    new FatalError("copy_damaged", `the copy of ${name} ${what}: ${path}`, {
      cause,
      hint: startOver,
    });
  if (content === undefined) throw damaged("is incomplete");
  const handle = await open(path, "r").catch((error: unknown) => {
    throw damaged("cannot be opened", error);
  });
  try {
    if ((await handle.stat()).size !== content.bytes) throw damaged("has another length");
    await verifyInput({ name: path, handle }, content, 0);
  } catch (error) {
    if (!(error instanceof FatalError) || error.code === "copy_damaged") throw error;
    throw damaged("is damaged", error);
  } finally {
    await handle.close();
  }
}

/** One line per row; an empty one would count as blank. */
function tsvRow(empty: string): (row: readonly InputValue[]) => string {
  const cell = (value: InputValue): string => {
    if (value === null) return "";
    if (value === "") return empty;
    const text = typeof value === "string" ? value : cellOf(value);
    return /["\t\r\n]|^\s|\s$/.test(text) ? quoted(text) : text;
  };
  return (row) => {
    const text = row.map(cell).join("\t");
    return text === "" ? '""\n' : `${text}\n`;
  };
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

/** A member per column. A repeated name gets a number. */
function objectRow(columns: readonly string[]): (row: readonly InputValue[]) => string {
  const names = uniqueNames(columns).map((name) => `${JSON.stringify(name)}:`);
  return (row) => `{${names.map((name, at) => name + jsonOf(row[at] ?? null)).join(",")}}\n`;
}
