import type { EnrichedRow } from "../../core/row.js";
import { columnTypes, storedType } from "../formats/column-types.js";
import type { PublisherOptions } from "./publisher.js";
import { stageEncoder, type StagedCell } from "./stage.js";
import { storedText } from "./typed/column-rules.js";
import type { Encoder } from "../formats/types.js";
import type { TableColumn, TableSchema } from "./typed/table-schema.js";

/** Added columns that say what was looked up, where it is from, and with which surplus cells. */
const kept: ReadonlySet<string> = new Set(["item", "kind", "extra", "file", "column"]);

function isFilledIn({ from }: TableColumn): boolean {
  return from.kind === "loaded_at" || (from.kind === "added" && !kept.has(from.column.name));
}

/**
 * Encodes rows as the cells of a table. A row that a retry copies has those it had, except for what a
 * new finding fills in.
 */
export function cellsEncoder(
  { columns }: Pick<TableSchema, "columns">,
  options: Pick<PublisherOptions, "runId" | "onWarning">,
): Encoder {
  const readers = cellReaders(columns, options);
  const fills = columns.map(isFilledIn);
  return stageEncoder((enriched) => {
    const { saved, before } = enriched.row;
    if (saved === undefined) return readers.map((read) => read(enriched));
    if (enriched.finding === before) return saved;
    return readers.map((read, index) =>
      fills[index] === true ? read(enriched) : (saved[index] ?? null),
    );
  });
}

/**
 * One reader per column, in table order. Input cells that are missing in a row are null, and so are
 * those that the type of their column lacks.
 */
function cellReaders(
  columns: readonly TableColumn[],
  { runId, onWarning = () => undefined }: Pick<PublisherOptions, "runId" | "onWarning">,
): readonly ((enriched: EnrichedRow) => StagedCell)[] {
  const text = (value: string): string => storedText(value, onWarning);

  return columns.map(({ type: stored, from }): ((enriched: EnrichedRow) => StagedCell) => {
    switch (from.kind) {
      case "run_id":
        return () => runId;
      case "row":
        return ({ row, written }) => String(written ?? row.number);
      case "loaded_at":
        // Filled in when the row is published.
        return () => null;
      case "input": {
        const lacking = `values of the column ${from.name} became null: they are infinite, out of range or malformed`;
        const { cellOf } = storedType(stored);
        return ({ row }) => {
          const cell = row.cells[from.index];
          if (cell === undefined || row.nulls?.[from.index] === true) return null;
          if (stored === "text") return text(cell);
          if (cell === "") return null;
          const value = text(stored === "json" ? plainEscapes(cell) : cell);
          if (cellOf(value) !== undefined) return value;
          onWarning(lacking);
          return null;
        };
      }
      case "added": {
        const { type, value: read } = from.column;
        return (enriched) => {
          const value = read(enriched);
          if (value === null) return null;
          const staged = columnTypes[type].toText(value);
          return typeof staged === "string" ? text(staged) : (staged?.map(text) ?? null);
        };
      }
    }
  });
}

/** Turns escapes that PostgreSQL refuses in jsonb (manual, section 8.14) into their characters. */
export function plainEscapes(json: string): string {
  if (!json.includes("\\u")) return json;
  return json.replaceAll(escapes, (escape, hex: string | undefined) => {
    const code = Number.parseInt(hex ?? "20", 16);
    return code === 0 || (code >= 0xd800 && code <= 0xdfff) ? String.fromCharCode(code) : escape;
  });
}

const escapes =
  /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u([\da-fA-F]{4})|\\[^u]/g;
