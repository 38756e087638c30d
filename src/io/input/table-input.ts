import type { Clock } from "../../core/clock.js";
import { cellText, elementTexts } from "../../core/json-members.js";
import { memberKeys } from "../formats/ndjson/ndjson-output.js";
import { contentLines, type Line, type TextBytes } from "../formats/reading/lines.js";
import type { InputType } from "../formats/column-types.js";

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
   * @param path of the copy; null to learn only its columns
   * @throws ReputeError
   */
  copy(path: string | null, options: CopyOptions): Promise<CopiedTable>;
}

/**
 * How the rows of a copy are read: as cells, or as JSON objects with a member for each column.
 */
export type CopyShape = "cells" | "objects";

/** The first line of a copy. Each of the others has the JSON values of a row; JSON is in a text. */
export function copyHeader(columns: readonly string[]): string {
  return `${JSON.stringify(columns)}\n`;
}

/** The JSON of each value of a row, exact and with times as RFC 3339 texts; null for null. */
export type CopiedRow = readonly (string | null)[];

/** Writes the line of a row. */
export function copyLine(types: readonly InputType[]): (row: CopiedRow) => string {
  const jsonIn = (json: string | null, index: number): string =>
    json !== null && types[index]?.type === "json" ? JSON.stringify(json) : (json ?? "null");
  return (row) => `[${row.map(jsonIn).join(",")}]\n`;
}

/** The rows of a copy as NDJSON. */
export async function* objectLines(
  bytes: TextBytes,
  types: readonly InputType[],
): AsyncGenerator<Buffer> {
  let keys: readonly string[] = [];
  const isJson = types.map(({ type }) => type === "json");
  const jsonIn = (value: string, index: number): string =>
    isJson[index] === true ? cellText(value) || "null" : value;
  const lineOf = ({ text, number }: Line): string => {
    const values = elementTexts(text);
    if (number > 1)
      return `{${values.map((value, at) => keys[at] + jsonIn(value, at)).join(",")}}\n`;
    keys = memberKeys(values.map(cellText));
    return "";
  };
  for await (const lines of contentLines(bytes, () => false)) {
    const text = lines.map(lineOf).join("");
    if (text !== "") yield Buffer.from(text);
  }
}
