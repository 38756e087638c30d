import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { expect } from "vitest";
import { timeText } from "../../../../src/core/clock.js";
import {
  cellText,
  elementTexts,
  joinedText,
  memberTexts,
} from "../../../../src/core/json-members.js";
import { decimalText } from "../../../../src/io/formats/number-text.js";
import { parseInput } from "../../../../src/io/output/registry.js";
import { plainEscapes } from "../../../../src/io/output/stage.js";
import { anyText } from "../../../helpers/any-text.js";
import { runRepute } from "../../../helpers/run-repute.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

/** A column of a copied query, with random values. */
interface RandomColumn<T = never> {
  readonly values: fc.Arbitrary<T>;
  /** The type and the text of a literal. */
  readonly type: string;
  readonly literal: (value: T) => string;
  /** Its cell. @default the literal's text */
  readonly cell?: (value: T) => string;
  /** Its JSON. @default text */
  readonly json?: (value: T) => string;
  /** Its cell in an output of typed columns. @default the same */
  readonly stored?: (value: T) => string;
  /** Whether another spelling of a cell has the same value. @default no */
  readonly same?: (cell: string, value: T) => boolean;
}

export type RandomColumns = Readonly<Record<string, RandomColumn>>;

function column<T>(own: RandomColumn<T>): RandomColumn {
  return own as unknown as RandomColumn;
}

export function integers(type: string, min: bigint, max: bigint): RandomColumn {
  const values = fc.oneof(fc.bigInt({ min, max }), fc.constantFrom(min, max));
  return column({ type, values, literal: String, json: String });
}

export function decimals(type: string, precision: number, scale: number): RandomColumn {
  const most = 10n ** BigInt(precision) - 1n;
  const text = (value: bigint): string => decimalText(value, scale);
  return column({
    type,
    values: fc.bigInt({ min: -most, max: most }),
    literal: text,
    json: text,
  });
}

export function floats(type: string, values: fc.Arbitrary<number>): RandomColumn {
  const round = type === "FLOAT" || type === "float4" ? Math.fround : Number;
  return column({
    type,
    values,
    literal: String,
    json: (value) => (Number.isFinite(value) ? String(value) : `"${value}"`),
    same: (cell, value) => Object.is(round(Number(cell)), value),
  });
}

/** Text, with line ends and quotes, but without U+0000. */
const texts = anyText().map((text) => text.replaceAll("\0", ""));

/** Times of RFC 3339. */
export function times(type: string, decimals: number, zone: string): RandomColumn {
  const units = 10n ** BigInt(decimals);
  const [min, max] = decimals === 9 ? [-9_000_000_000n, 9_000_000_000n] : [-62e9, 253e9];
  return column({
    type,
    values: fc.bigInt({ min: BigInt(min) * units, max: BigInt(max) * units }),
    literal: (value) => timeText(value, decimals).replace("T", " ").replace("Z", zone),
    cell: (value) => timeText(value, decimals),
  });
}

/** Times that typed columns do not have: infinite, or of other eras. */
export function strangeTimes(type: string, ...values: readonly string[]): RandomColumn {
  return { ...printed(type, ...values), stored: () => "" };
}

/** Values that a database prints in one way. */
export function printed(type: string, ...values: readonly string[]): RandomColumn {
  return column({ type, values: fc.constantFrom(...values), literal: String });
}

export function textLists(type: string, literal: (list: readonly (string | null)[]) => string) {
  return column({
    type,
    values: fc.array(fc.option(fc.constantFrom("a", "b c", 'q"', "é", "x|y", "\\", "NULL", ""))),
    literal,
    cell: (list: readonly (string | null)[]) =>
      list.some((entry) => entry === null || entry.includes("|"))
        ? JSON.stringify(list)
        : list.join("|"),
    json: (list) => JSON.stringify(list),
  });
}

/** What no typed column stores. */
const unstorable = /\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

/** Columns that all databases have. */
export const common: RandomColumns = {
  texts: column({ type: "text", values: texts, literal: String }),
  flags: column({ type: "boolean", values: fc.boolean(), literal: String, json: String }),
  days: column({
    type: "date",
    values: fc.integer({ min: -719_000, max: 2_900_000 }),
    literal: (day) => timeText(BigInt(day) * 86_400n, 0).slice(0, 10),
  }),
  infinite: strangeTimes("timestamp", "infinity", "-infinity"),
  ids: column({ type: "uuid", values: fc.uuid(), literal: String }),
  documents: column({
    type: "json",
    values: fc.oneof(fc.json(), fc.constantFrom('"#"', "1.10", '{"a": 1e2}')),
    literal: String,
    stored: (value) => plainEscapes(value).replaceAll(unstorable, "\uFFFD"),
  }),
  spans: printed("interval", "00:00:00", "01:02:03.5"),
};

type RandomRows = readonly Readonly<Record<string, unknown>>[];

/** Rows in which every value may be null. */
export function randomRows(columns: RandomColumns): fc.Arbitrary<RandomRows> {
  const values = Object.entries(columns).map(([name, { values: own }]) => [
    name,
    fc.option(own as fc.Arbitrary<unknown>),
  ]);
  const row = fc.record(Object.fromEntries(values) as Record<string, fc.Arbitrary<unknown>>);
  return fc.array(row, { minLength: 1, maxLength: 8 });
}

/** A query of these rows, in their order. */
export function queryOf(columns: RandomColumns, rows: RandomRows): string {
  const selects = rows.map((row) => {
    const cells = Object.entries(columns).map(([name, { type, literal }]) => {
      const value = row[name] as never;
      const text = value === null ? "NULL" : `'${literal(value).replaceAll("'", "''")}'`;
      return `(${text})::${type} AS ${name}`;
    });
    return `SELECT ${cells.join(", ")}`;
  });
  return selects.join(" UNION ALL ");
}

/** Copies an input. @returns the values of its lines, the names first, as JSON texts */
export async function copiedLines(address: string): Promise<readonly (readonly string[])[]> {
  const path = join(await temporaryFolder(), "copy");
  await parseInput(address).table?.copy(path, {});
  const lines = (await readFile(path, "utf8")).split("\n").slice(0, -1);
  return lines.map((line) => elementTexts(line));
}

/** Copies an input and compares the copy with the rows. */
export async function expectCopied(
  address: string,
  columns: RandomColumns,
  rows: RandomRows,
): Promise<void> {
  const [header = [], ...lines] = await copiedLines(address);
  expect(header.map(cellText)).toEqual(Object.keys(columns));
  expect(lines.length).toBe(rows.length);
  for (const [at, row] of rows.entries()) {
    for (const [index, [name, own]] of Object.entries(columns).entries()) {
      const value = row[name] as never;
      const raw = lines[at]?.[index] ?? "";
      const cell = joinedText(raw);
      // Escapes of a text have several spellings.
      const json = raw.startsWith('"') ? JSON.stringify(JSON.parse(raw)) : raw;
      const expected = value === null ? { cell: "", json: "null" } : expectedOf(own, value);
      const isSame = value !== null && own.same?.(cell, value) === true;
      const isNumber = isSame && !raw.startsWith('"');
      expect({ name, cell: isSame ? expected.cell : cell, json }).toEqual({
        name,
        cell: expected.cell,
        json: isNumber ? cell : expected.json,
      });
    }
  }
}

function expectedOf(
  { literal, cell = literal, json }: RandomColumn,
  value: never,
): { readonly cell: string; readonly json: string } {
  const text = cell(value);
  return { cell: text, json: json?.(value) ?? JSON.stringify(text) };
}

/** Outputs, and the cells of a column that are read back: in NDJSON as JSON. */
const outputs: Readonly<
  Record<string, readonly [output: string, read: (cwd: string) => Promise<ColumnCells>]>
> = {
  CSV: [
    "out.csv",
    async (cwd) => {
      const text = await readFile(join(cwd, "out.csv"), "utf8");
      const [names = [], ...cells]: string[][] = parse(text, { record_delimiter: "\n" });
      return (name) => cells.map((row) => row[names.indexOf(name)]);
    },
  ],
  NDJSON: [
    "out.ndjson",
    async (cwd) => {
      const lines = (await readFile(join(cwd, "out.ndjson"), "utf8")).trimEnd().split("\n");
      return (name) => lines.map((line) => memberTexts(line).get(name));
    },
  ],
  DuckDB: [
    "duckdb:out.duckdb?table=kept",
    (cwd) => copiedCells(`duckdb:${cwd}/out.duckdb?query=SELECT * FROM kept ORDER BY rep_row`),
  ],
  Parquet: ["out.parquet", (cwd) => copiedCells(join(cwd, "out.parquet"))],
};

export const outputNames = Object.keys(outputs);

type ColumnCells = (name: string) => readonly (string | undefined)[];

async function copiedCells(address: string): Promise<ColumnCells> {
  const [names = [], ...lines] = await copiedLines(address);
  return (name) => lines.map((line) => joinedText(line[names.indexOf(JSON.stringify(name))] ?? ""));
}

/**
 * Enriches rows and compares their columns in the output with them.
 *
 * @param addressOf makes an input of a query
 */
export async function expectKept(
  name: string,
  addressOf: (query: string) => string | Promise<string>,
  columns: RandomColumns,
  rows: RandomRows,
): Promise<void> {
  const cwd = await temporaryFolder();
  const [output, read] = outputs[name]!;
  const item = "host.example.com";
  const withItems = rows.map((row) => ({ ...row, item }));
  const address = await addressOf(queryOf({ ...columns, item: printed("text", item) }, withItems));
  const args = ["enrich", address, "-o", output, "--item-column", "item", "--local", "--quiet"];
  const run = await runRepute(args, { cwd });
  expect(run.code, run.stderr).toBe(0);
  const cells = await read(cwd);
  for (const [column, own] of Object.entries(columns)) {
    const found = cells(column).map((cell = "", at) => {
      const value = rows[at]?.[column] as never;
      const isSame = value !== null && own.same?.(cell, value) === true;
      return isSame ? expectedIn(name, own, value) : cell;
    });
    const expected = rows.map((row) => expectedIn(name, own, row[column] as never));
    expect({ column, found: found.map(likeOurs) }).toEqual({
      column,
      found: expected.map(likeOurs),
    });
  }
}

/** DuckDB writes the digits of JSON's escapes in upper case. */
function likeOurs(cell: string): string {
  return cell.replaceAll(/\\u[\dA-F]{4}/gi, (escape) => escape.toLowerCase());
}

function expectedIn(name: string, own: RandomColumn, value: never): string {
  const isJson = name === "NDJSON";
  if (value === null) return isJson ? "null" : "";
  const { cell, json } = expectedOf(own, value);
  if (isJson) return own.type.startsWith("json") ? cell : json;
  return name === "CSV" ? cell : (own.stored?.(value) ?? cell);
}
