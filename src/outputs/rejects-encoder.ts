import type { EnrichedRow } from "../core/row.js";
import type { Delimiter, InputReading } from "../inputs/types.js";
import { runsAsFormula } from "../formats/csv/formula.js";
import type { Encoder } from "./types.js";

export interface RejectsOptions {
  /** The input's columns as they stand in the input. */
  readonly columns: readonly string[];
  /** How the input was read: rejected rows keep its format, delimiter and header. */
  readonly reading: Pick<InputReading, "format" | "delimiter" | "header">;
  /** Neutralise added cells that a spreadsheet would run (CSV and TSV). */
  readonly formulaGuard: boolean;
}

/**
 * Rows in the form they came in, with two more columns that say why they were rejected. What comes
 * out is an input again: mend it and run it, or run it as it is.
 */
export function rejectsEncoder(options: RejectsOptions): Encoder {
  const [code, reason] = freshNames(["reject_code", "reject_reason"], options.columns);
  const { format, delimiter } = options.reading;
  if (delimiter !== null) return tableEncoder(delimiter, options, [code!, reason!]);
  if (format === "text") return linesEncoder(textLines);
  return linesEncoder((row) => jsonLine(row, code!, reason!));
}

/** The same names, numbered where the input has them already (a rejects file that was run again). */
function freshNames(names: readonly string[], taken: readonly string[]): readonly string[] {
  const known = new Set(taken.map((name) => name.trim()));
  return names.map((name) => {
    let fresh = name;
    for (let n = 2; known.has(fresh); n++) fresh = `${name}_${n}`;
    return fresh;
  });
}

function linesEncoder(encodeRow: (row: EnrichedRow) => string): Encoder {
  return { header: "", encode: (rows) => rows.map((row) => encodeRow(row)).join("") };
}

function tableEncoder(
  delimiter: Delimiter,
  { columns, reading, formulaGuard }: RejectsOptions,
  added: readonly [string, string],
): Encoder {
  const special = specials[delimiter];
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell) => (special.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell))
      .join(delimiter) + "\n";
  // The reason may be the service's own text.
  const guarded = (cell: string): string =>
    formulaGuard && runsAsFormula(cell) ? `'${cell}` : cell;
  return {
    header: reading.header === "none" ? "" : line([...columns, ...added]),
    encode: (rows) =>
      rows
        .map(({ row, finding }) =>
          line([
            ...columns.map((_, index) => row.cells[index] ?? ""),
            finding.error?.code ?? finding.status,
            guarded(finding.error?.message ?? ""),
            ...surplusCells(row.extra),
          ]),
        )
        .join(""),
  };
}

const specials: Readonly<Record<Delimiter, RegExp>> = {
  ",": /[",\r\n]/,
  ";": /[";\r\n]/,
  "\t": /["\t\r\n]/,
};

/** Cells for which the input had no column stand behind everything else, surplus again. */
function surplusCells(extra: string | null): readonly string[] {
  if (extra === null) return [];
  const value: unknown = JSON.parse(extra);
  return Array.isArray(value) ? value.map(String) : [extra];
}

function jsonLine({ row, finding }: EnrichedRow, code: string, reason: string): string {
  // A line that is no record has no place for members: it goes as it came.
  if (row.json === null) return `${row.extra === null ? "" : String(JSON.parse(row.extra))}\n`;
  const members = row.json.slice(1, -1).trim();
  const why = JSON.stringify({
    [code]: finding.error?.code ?? finding.status,
    [reason]: finding.error?.message ?? "",
  }).slice(1);
  return `{${members}${members === "" ? "" : ","}${why}\n`;
}

function textLines({ row, finding }: EnrichedRow): string {
  const why = `${finding.error?.code ?? finding.status}: ${finding.error?.message ?? ""}`;
  return `# ${why.replaceAll(/[\r\n]+/g, " ")}\n${row.cells[0] ?? ""}\n`;
}
