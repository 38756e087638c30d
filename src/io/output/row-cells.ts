import { type Clock, systemClock } from "../../core/clock.js";
import type { EnrichedRow } from "../../core/row.js";
import { columnTypes, storedType } from "../formats/column-types.js";
import type { CellValue } from "../formats/typed-column.js";
import type { PublicationOptions } from "./publication.js";
import { type Stage, stageEncoder, type StagedRow } from "./stage.js";
import { storedText } from "./typed/column-rules.js";
import type { Encoder } from "../formats/types.js";
import { leadingNames, type TableColumn, type TableSchema } from "./typed/table-schema.js";

/** Added columns that say what was looked up, where it is from, and with which surplus cells. */
const kept: ReadonlySet<string> = new Set(["item", "kind", "extra", "file", "column"]);

function isFilledIn({ from }: TableColumn): boolean {
  return from.kind === "loaded_at" || (from.kind === "added" && !kept.has(from.column.name));
}

const loadedIndex = leadingNames.indexOf("loaded_at");

/**
 * The staged rows as they are published: with the time of their publishing, unless a retry copies rows
 * that have theirs, and with the values of typed input columns.
 */
export async function* loadedRows(
  stage: Stage,
  columns: readonly TableColumn[],
  clock: Clock = systemClock,
): AsyncGenerator<readonly StagedRow[]> {
  const now = BigInt(Math.round(clock.now() * 1000));
  const typed = columns.flatMap(({ type, from }, index) =>
    from.kind === "input" && type !== "text" ? [{ index, facts: storedType(type) }] : [],
  );
  for await (const rows of stage.rows()) {
    yield rows.map((staged) => {
      const row = staged.slice();
      if (row[loadedIndex] === null) row[loadedIndex] = now;
      for (const { index, facts } of typed) {
        const text = row[index] ?? null;
        if (text !== null) row[index] = facts.cellOf(text as string) ?? null;
      }
      return row;
    });
  }
}

/**
 * Encodes rows as the cells of a table. A row that a retry copies has those it had, except for what a
 * new finding fills in.
 */
export function cellsEncoder(
  { columns }: Pick<TableSchema, "columns">,
  options: Pick<PublicationOptions, "runId" | "onWarning">,
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
 * One reader per column, in table order. Input cells missing in a row are null. Those of typed columns
 * stay text until they are published; the others are warned of now.
 */
function cellReaders(
  columns: readonly TableColumn[],
  { runId, onWarning = () => undefined }: Pick<PublicationOptions, "runId" | "onWarning">,
): readonly ((enriched: EnrichedRow) => CellValue)[] {
  const text = (value: string): string => storedText(value, onWarning);

  return columns.map(({ type: stored, from }): ((enriched: EnrichedRow) => CellValue) => {
    switch (from.kind) {
      case "run_id":
        return () => runId;
      case "row":
        return ({ row, written }) => BigInt(written ?? row.number);
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
          if (cellOf(value) === undefined) onWarning(lacking);
          return value;
        };
      }
      case "added": {
        const { type, value: read } = from.column;
        return (enriched) => {
          const value = read(enriched);
          return value === null ? null : columnTypes[type].toCell(value, text);
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

export interface BatchBounds {
  readonly rows: number;
  /** Characters of text in all cells. */
  readonly characters: number;
}

/** Collects rows as columns of typed values, for columnar outputs. */
export class ColumnBatch {
  columns: CellValue[][] = [];
  rows = 0;
  /** Characters of text in all cells. */
  characters = 0;
  readonly #bounds: BatchBounds;
  readonly #width: number;

  constructor(width: number, bounds: BatchBounds) {
    this.#bounds = bounds;
    this.#width = width;
    this.clear();
  }

  get full(): boolean {
    return this.rows >= this.#bounds.rows || this.characters >= this.#bounds.characters;
  }

  add(cells: readonly CellValue[]): void {
    for (const [index, column] of this.columns.entries()) {
      const value = cells[index] ?? null;
      column.push(value);
      if (typeof value === "string") this.characters += value.length;
      else if (typeof value === "object" && value !== null) {
        for (const entry of value) this.characters += entry.length;
      }
    }
    this.rows++;
  }

  clear(): void {
    this.columns = Array.from({ length: this.#width }, () => []);
    this.rows = 0;
    this.characters = 0;
  }
}
