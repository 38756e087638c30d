import type { Clock } from "../../core/clock.js";
import { type InputValue, cellOf, jsonOf } from "../formats/input-values.js";
import { memberKeys } from "../formats/ndjson/ndjson-output.js";
import type { InputType } from "../formats/typed-column.js";

/**
 * How the rows of a copy are written, one a line: `cells` is an array of texts and nulls, after a line
 * with the names of the columns; `objects` has a member for each column, with its JSON value.
 */
export type CopyShape = "cells" | "objects";

/** Where rows are copied to. */
export interface CopyTarget {
  readonly path: string;
  readonly shape: CopyShape;
}

export interface CopyOptions {
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock | undefined;
  readonly onWarning?: ((message: string) => void) | undefined;
}

export interface CopiedTable {
  /** Names may repeat. */
  readonly columns: readonly string[];
  /** One per column. */
  readonly types: readonly InputType[];
  readonly rows: number;
}

export interface TableInput {
  readonly kind: string;
  /** Name for messages and the manifest, without a password. */
  readonly name: string;
  /** Whether it is of a database. */
  readonly isTable: boolean;
  /** The file that holds it; null for a server. */
  readonly file: string | null;
  /**
   * Copies all rows once, as of one moment. Writes nothing to the source.
   *
   * @param to null to learn only its columns
   * @throws ReputeError
   */
  copy(to: CopyTarget | null, options: CopyOptions): Promise<CopiedTable>;
}

/** The lines before the first row of a copy. */
export function copyHeader(columns: readonly string[], shape: CopyShape): string {
  return shape === "cells" ? `${JSON.stringify(columns)}\n` : "";
}

/** Writes the lines of rows. */
export function copyLine(
  columns: readonly string[],
  shape: CopyShape,
): (row: readonly InputValue[]) => string {
  if (shape === "cells") {
    return (row) =>
      `${JSON.stringify(row.map((value) => (value === null ? null : cellOf(value))))}\n`;
  }
  const keys = memberKeys(columns);
  return (row) => `{${keys.map((key, at) => key + jsonOf(row[at] ?? null)).join(",")}}\n`;
}
