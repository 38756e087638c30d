import { isWellFormed } from "../../core/bytes.js";
import type { EnrichedRow } from "../../core/row.js";
import type { TableColumn, TableSchema } from "./table-schema.js";
import { parseTimestamp } from "../../core/clock.js";

/**
 * A typed cell: text, lists of text, booleans, counts as bigint, times as microseconds since 1970
 * in UTC.
 */
export type CellValue = string | bigint | boolean | readonly string[] | null;

export type CellReader = (enriched: EnrichedRow) => CellValue;

export interface CellReaderOptions {
  readonly runId: string;
  /** Told of every value that cannot be stored as it is. */
  readonly onWarning: (message: string) => void;
}

const warnings: Readonly<Record<TextFault | "timestamp", string>> = {
  nul: "values with the character U+0000 were stored with U+FFFD in its place",
  surrogate: "values with half a character (a lone surrogate) were stored with U+FFFD in its place",
  timestamp: "times that are no RFC 3339 date-time were stored as null",
};

/** One reader a column, in the order of the table. Input cells that a row lacks are null. */
export function cellReaders(
  schema: TableSchema,
  options: CellReaderOptions,
): readonly CellReader[] {
  const warnOfText = (fault: TextFault): void => options.onWarning(warnings[fault]);
  const text = (value: string): string => storedText(value, warnOfText);
  const time = (value: string): bigint | null => {
    const micros = parseTimestamp(value);
    if (micros === null) options.onWarning(warnings.timestamp);
    return micros;
  };

  return schema.columns.map(({ from }: TableColumn): CellReader => {
    switch (from.kind) {
      case "run_id":
        return () => options.runId;
      case "row":
        return ({ row }) => BigInt(row.number);
      case "input":
        return ({ row }) => {
          const cell = row.cells[from.index];
          return cell === undefined ? null : text(cell);
        };
      case "added": {
        const { type, value: read } = from.column;
        return (enriched) => {
          const value = read(enriched);
          if (value === null || typeof value === "boolean") return value;
          if (typeof value === "number") return BigInt(value);
          if (typeof value === "object") return value.map(text);
          return type === "timestamp" ? time(value) : text(value);
        };
      }
    }
  });
}

/** What a text had that no warehouse can store; each one became U+FFFD. */
export type TextFault = "nul" | "surrogate";

/** U+FFFD, the replacement character (Unicode, 3.9: replacement of ill-formed sequences). */
const replacement = "\uFFFD";

/**
 * The text as every warehouse can store it: U+0000 (PostgreSQL has no such character, 8.3) and lone
 * surrogates (which UTF-8 cannot write, RFC 3629, 3) become U+FFFD.
 *
 * @param onFault told once a text for each kind of replacement
 */
export function storedText(text: string, onFault: (fault: TextFault) => void): string {
  let stored = text;
  if (stored.includes("\0")) {
    stored = stored.replaceAll("\0", replacement);
    onFault("nul");
  }
  if (!isWellFormed(stored)) {
    stored = stored.replaceAll(/\p{Surrogate}/gu, replacement);
    onFault("surrogate");
  }
  return stored;
}
