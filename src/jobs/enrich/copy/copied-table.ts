import { mkdir } from "node:fs/promises";
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
import type { TableInput } from "../../../io/output/tables/types.js";
import { readingOf } from "../rows/reading.js";
import { openInputs, type SeveralReading } from "../rows/read-several.js";
import { detectSourceFormat } from "../../../io/formats/registry.js";
import { copyOnce, copyPath, emptyText, readSeal } from "./copy-writer.js";
import { UsageError } from "../../../core/errors.js";
import type { ReadingSettings, RowHandling, CopyPlace, CopyForm } from "../rows/row-handling.js";

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
): RowHandling {
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
      const read = (each: ReadingSettings): RowHandling =>
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
          tables[index] ?? { kind: "text", file: "path" in input ? input.path : null },
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
): RowHandling {
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
): RowHandling {
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
