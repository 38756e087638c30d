import type { CellValue } from "../../formats/typed-column.js";
import { isWellFormed, toWellFormed } from "../../core/bytes.js";
import type { EnrichedRow } from "../../core/row.js";
import type { TableColumn, TableSchema } from "./table-schema.js";
import { parseTimestamp } from "../../core/clock.js";

export type CellReader = (enriched: EnrichedRow) => CellValue;

export interface CellReaderOptions {
  readonly runId: string;
  /** Called for every value that cannot be stored unchanged. */
  readonly onWarning: (message: string) => void;
}

const warnings: Readonly<Record<TextFault, string>> = {
  nul: "replaced U+0000 with U+FFFD in values that contain it",
  surrogate: "replaced invalid UTF-8 with U+FFFD in values that contain it",
};

/** One reader per column, in table order. Input cells missing in a row are null. */
export function cellReaders(
  schema: TableSchema,
  options: CellReaderOptions,
): readonly CellReader[] {
  const warnOfText = (fault: TextFault): void => options.onWarning(warnings[fault]);
  const text = (value: string): string => storedText(value, warnOfText);

  return schema.columns.map(({ from }: TableColumn): CellReader => {
    switch (from.kind) {
      case "run_id":
        return () => options.runId;
      case "row":
        return ({ row }) => BigInt(row.savedNumber ?? row.number);
      case "input":
        return ({ row }) => {
          const cell = row.cells[from.index];
          return cell === undefined || row.nulls?.[from.index] === true ? null : text(cell);
        };
      case "added": {
        const { type, value: read } = from.column;
        return (enriched) => {
          const value = read(enriched);
          if (value === null || typeof value === "boolean") return value;
          if (typeof value === "number") return BigInt(value);
          if (typeof value === "object") return value.map(text);
          return type === "timestamp" ? parseTimestamp(value) : text(value);
        };
      }
    }
  });
}

/** Characters that no warehouse can store; each becomes U+FFFD. */
export type TextFault = "nul" | "surrogate";

/** U+FFFD, the replacement character (Unicode Standard, section 3.9). */
const replacement = "\uFFFD";

/**
 * Makes a text storable in every warehouse: U+0000 (not allowed in PostgreSQL text, manual section
 * 8.3) and lone surrogates (not encodable in UTF-8, RFC 3629, section 3) become U+FFFD.
 * @param onFault called once per text for each kind of replacement
 */
export function storedText(text: string, onFault: (fault: TextFault) => void): string {
  let stored = text;
  if (stored.includes("\0")) {
    stored = stored.replaceAll("\0", replacement);
    onFault("nul");
  }
  if (!isWellFormed(stored)) {
    stored = toWellFormed(stored);
    onFault("surrogate");
  }
  return stored;
}
