import { createReadStream } from "node:fs";
import { join } from "node:path";
import type { EnrichedRow } from "../../core/row.js";
import { columnTypes, storedType } from "../formats/column-types.js";
import { linesEncoder } from "../formats/ndjson/ndjson-output.js";
import { splitLines } from "../formats/reading/lines.js";
import type { Encoder } from "../formats/types.js";
import { partFault, partPath, readWritten, type SinkPosition } from "./part-file.js";
import { storedText, type TableColumn, type TableSchema } from "./typed/table-schema.js";

/** The rows of a run that wait to be published: one JSON array of cells per line. */
export type Stage = ReturnType<typeof stageUpTo>;

/** A value as text, of which every output makes its own, or the entries of a list. */
export type StagedCell = string | readonly string[] | null;

export type StagedRow = readonly StagedCell[];

/** Characters of a row: about how much memory it takes. */
export function charactersIn(row: StagedRow): number {
  let size = 0;
  for (const cell of row) size += typeof cell === "string" ? cell.length : charactersIn(cell ?? []);
  return size;
}

/** The staged rows in a state folder, without the suffix that they have as a part file. */
export function stagePath(stateFolder: string): string {
  return join(stateFolder, "rows");
}

/** @param cellsOf null for a row that is not staged */
export function stageEncoder(cellsOf: (row: EnrichedRow) => StagedRow | null): Encoder {
  return linesEncoder((row) => {
    const cells = cellsOf(row);
    return cells === null ? "" : `${JSON.stringify(cells)}\n`;
  });
}

/**
 * The rows of a run up to a position. They are verified once, but whenever a database reads them.
 *
 * @param file whose part file they are
 */
export function stageUpTo(file: string, { length, checksum, rows: count }: SinkPosition) {
  const path = partPath(file);
  const written = { length, checksum };
  let verified: Awaited<ReturnType<typeof readWritten>> | null = null;
  /**
   * Compares them with what was staged.
   *
   * @param take receives the bytes
   * @throws FatalError `output_part_*`
   */
  const verify = async (take?: (bytes: Uint8Array) => void) => {
    if (verified === null || take !== undefined) verified = await readWritten(file, written, take);
    return verified;
  };
  return {
    path,
    /** Bytes. */
    length,
    crc: checksum?.crc ?? null,
    count,
    verify,
    /** Rows in their order, in batches, all of them verified before the first. May be read again. */
    async *rows() {
      if (length === 0) return;
      await verify();
      yield* readStage(path, length);
    },
  };
}

async function* readStage(path: string, length: number): AsyncGenerator<readonly StagedRow[]> {
  const splitter = splitLines();
  try {
    const range = { start: 0, end: length - 1, highWaterMark: 256 * 1024 };
    for await (const chunk of createReadStream(path, range)) {
      const lines = splitter.push(chunk as Buffer);
      yield lines.map((line) => JSON.parse(line.toString("utf8")) as StagedRow);
    }
  } catch (error) {
    throw partFault(path, error);
  }
}

/** Added columns that say what was looked up, where it is from, and with which surplus cells. */
const kept: ReadonlySet<string> = new Set(["item", "kind", "extra", "file", "column"]);

interface StagedRun {
  readonly runId: string;
  readonly onWarning?: ((message: string) => void) | undefined;
}

/**
 * Encodes rows as the cells of a table. A row that a retry copies has those it had, except for what a
 * new finding fills in.
 */
export function cellsEncoder(
  { columns }: Pick<TableSchema, "columns">,
  options: StagedRun,
): Encoder {
  const readers = cellReaders(columns, options);
  const fills = columns.map(
    ({ from }) =>
      from.kind === "loaded_at" || (from.kind === "added" && !kept.has(from.column.name)),
  );
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
  { runId, onWarning = () => undefined }: StagedRun,
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
