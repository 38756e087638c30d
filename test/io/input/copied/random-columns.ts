import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { expect, it } from "vitest";
import { timeText } from "../../../../src/core/clock.js";
import {
  cellText,
  elementTexts,
  joinedText,
  memberTexts,
} from "../../../../src/core/json-members.js";
import { decimalText, type StoredType } from "../../../../src/io/formats/column-types.js";
import { parseInput } from "../../../../src/io/output/registry.js";
import { plainEscapes } from "../../../../src/io/output/stage.js";
import { anyText } from "../../../helpers/any-text.js";
import { runRepute } from "../../../helpers/run-repute.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { queryDuckdb } from "../../output/tables/warehouse-readers.js";

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

/** The types that outputs of typed columns have, and those of inputs that become them. */
const keptTypes: readonly (readonly [kept: StoredType, inputs: string])[] = [
  ["text", "text char(4) mood ENUM('happy','sad')"],
  ["boolean", "boolean"],
  ["integer", "TINYINT UINTEGER BIGINT int2 int8 oid age"],
  ["decimal(20,0)", "UBIGINT"],
  ["decimal(9,2)", "DECIMAL(9,2) numeric(9,2)"],
  ["decimal(18,4)", "DECIMAL(18,4)"],
  ["decimal(38,10)", "DECIMAL(38,10)"],
  ["numeric", "HUGEINT numeric numeric(50,2)"],
  ["float", "FLOAT float4"],
  ["number", "DOUBLE float8"],
  ["date", "date"],
  ["timestamp", "TIMESTAMPTZ timestamptz"],
  ["timestamp_local", "TIMESTAMP TIMESTAMP_S timestamp"],
  ["timestamp_ns_local", "TIMESTAMP_NS"],
  ["uuid", "uuid"],
  ["json", "json jsonb"],
];

/** The type that an output gives a column, unless it lacks it; all others become text. */
export function keptType({ type }: RandomColumn): StoredType | null {
  return keptTypes.find(([, inputs]) => inputs.split(" ").includes(type))?.[0] ?? null;
}

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

/** The cell of a typed column without a value, which an empty text is not. */
const absent = "(null)";

/** Values that typed columns do not have, such as infinite times and those of other eras. */
export function strange(type: string, ...values: readonly string[]): RandomColumn {
  return { ...printed(type, ...values), stored: () => absent };
}

/** Values that a database prints in one way. */
export function printed(type: string, ...values: readonly string[]): RandomColumn {
  return column({ type, values: fc.constantFrom(...values), literal: String });
}

/** Lists of text, with the brackets of their literals. */
export function textLists(type: string, [open, close]: readonly [string, string]): RandomColumn {
  const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
  return column<readonly (string | null)[]>({
    type,
    values: fc.array(fc.option(fc.constantFrom("a", "b c", 'q"', "é", "x|y", "\\", "NULL", ""))),
    literal: (list) =>
      open + list.map((entry) => (entry === null ? "NULL" : quoted(entry))).join() + close,
    cell: (list) =>
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
  infinite: strange("timestamp", "infinity", "-infinity"),
  ids: column({ type: "uuid", values: fc.uuid(), literal: String }),
  documents: column({
    type: "json",
    values: fc.oneof(fc.json(), fc.constantFrom('"#"', "1.10", '{"a": 1e2}')),
    literal: String,
    stored: (value) => plainEscapes(value).replaceAll(unstorable, "\uFFFD"),
  }),
  spans: printed("interval", "00:00:00", "01:02:03.5"),
};

/** What Parquet files of DuckDB have as well. */
const stored: RandomColumns = {
  ...common,
  tiny: integers("TINYINT", -128n, 127n),
  unsigned: integers("UINTEGER", 0n, 2n ** 32n - 1n),
  big: integers("BIGINT", -(2n ** 63n), 2n ** 63n - 1n),
  wide: integers("UBIGINT", 0n, 2n ** 64n - 1n),
  cents: decimals("DECIMAL(9,2)", 9, 2),
  rate: decimals("DECIMAL(18,4)", 18, 4),
  exact: decimals("DECIMAL(38,10)", 38, 10),
  single: floats("FLOAT", fc.float()),
  double: floats("DOUBLE", fc.double()),
  zoned: times("TIMESTAMPTZ", 6, "+00"),
  local: times("TIMESTAMP", 6, ""),
  seconds: times("TIMESTAMP_S", 0, ""),
  nanos: times("TIMESTAMP_NS", 9, ""),
  moods: printed("ENUM('happy','sad')", "happy", "sad"),
  lists: textLists("VARCHAR[]", ["[", "]"]),
};

const { infinite: _, ...plain } = stored;

/** Where rows are copied from. */
export interface InputPlace {
  readonly columns: RandomColumns;
  /** Makes an input of a query. */
  readonly addressOf: (query: string) => string | Promise<string>;
}

export const inputs = {
  DuckDB: {
    columns: {
      ...stored,
      huge: integers("HUGEINT", -(2n ** 127n), 2n ** 127n - 1n),
      bytes: printed("BLOB", String.raw`\x00\xFFabc`, ""),
      longer: printed("INTERVAL", "1 year 2 months 3 days 04:05:06", "-1 day"),
      clocks: printed("TIME", "01:02:03.5", "23:59:59"),
      bits: printed("BIT", "10101"),
    },
    addressOf: async (query) => {
      const file = join(await temporaryFolder(), "in.duckdb");
      await queryDuckdb("CREATE TABLE nothing (x INTEGER)", file);
      return `duckdb:${file}?query=${query}`;
    },
  },
  Parquet: {
    columns: {
      ...plain,
      clocks: printed("TIME", "01:02:03.5", "24:00:00"),
      // Their bytes: months, days and milliseconds.
      spans: {
        ...printed("INTERVAL", "1 year 3 days 04:05:06"),
        cell: () => String.raw`\x0c000000030000005065e000`,
      },
    },
    addressOf: async (query) => {
      const file = join(await temporaryFolder(), "in.parquet");
      await queryDuckdb(`COPY (${query}) TO '${file}' (FORMAT parquet)`);
      return file;
    },
  },
} satisfies Readonly<Record<string, InputPlace>>;

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
function queryOf(columns: RandomColumns, rows: RandomRows): string {
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

/** A query of rows with an item in each. */
export function queryOfItems(columns: RandomColumns, rows: RandomRows): string {
  const item = column({ type: "text", values: fc.constant(""), literal: String });
  const named = rows.map((row, n) => ({ ...row, item: `host-${n}.example.com` }));
  return queryOf({ ...columns, item }, named);
}

/** Copies an input. @returns the types, and the values of its lines, the names first, as JSON texts */
async function copyOf(address: string) {
  const path = join(await temporaryFolder(), "copy");
  const { types } = await parseInput(address).table!.copy(path, {});
  const lines = (await readFile(path, "utf8")).split("\n").slice(0, -1);
  return { types: types.map(({ type }) => type), lines: lines.map((line) => elementTexts(line)) };
}

interface Rounds {
  readonly numRuns: number;
}

/** The copy of an input has its values, exactly. */
export function testCopies(name: string, { columns, addressOf }: InputPlace, rounds: Rounds): void {
  it(`the copy of a table has the values of ${name}, exactly`, async () => {
    const property = fc.asyncProperty(randomRows(columns), async (rows) =>
      expectCopied(await addressOf(queryOf(columns, rows)), columns, rows),
    );
    await expect(fc.assert(property, rounds)).resolves.toBeUndefined();
  });
}

/** Outputs have the values of an input, and the types where they have any. */
export function testOutputs(
  name: string,
  input: InputPlace,
  places: Readonly<Record<string, OutputPlace>>,
  rounds: Rounds,
): void {
  it.each(Object.keys(places))(`a table of ${name} becomes %s with its values`, async (output) => {
    const property = fc.asyncProperty(randomRows(input.columns), (rows) =>
      expectKept(places[output]!, input, rows),
    );
    await expect(fc.assert(property, rounds)).resolves.toBeUndefined();
  });
}

/** The cell and the JSON of the value in a copy of `SELECT … AS v, 1 AS v`. */
export async function copiedValue(address: string): Promise<readonly [string, string]> {
  const [names, [json = "", one] = []] = (await copyOf(address)).lines;
  expect([names, one]).toEqual([['"v"', '"v"'], "1"]);
  return [joinedText(json), json];
}

/** Copies an input and compares the copy with the rows. */
async function expectCopied(
  address: string,
  columns: RandomColumns,
  rows: RandomRows,
): Promise<void> {
  const { types, lines: all } = await copyOf(address);
  const [header = [], ...lines] = all;
  expect(types).toEqual(Object.values(columns).map(keptType));
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

/** An output, and how its columns are read back. */
export interface OutputPlace {
  /** The value of `-o`. */
  readonly output: () => string;
  /** The cells of a column; in NDJSON as JSON. The type, where columns have one. */
  readonly read: (cwd: string) => Promise<(name: string) => ReadColumn>;
  /** Types that become text. @default all, without a warning */
  readonly lacks?: readonly StoredType[];
  /** One spelling of the JSON texts of the same value. @default as they are */
  readonly plain?: (json: string) => string;
}

interface ReadColumn {
  readonly type?: StoredType | null;
  readonly cells: readonly (string | undefined)[];
}

/** How typed columns are read. @param address of the rows, in their order */
export function typedPlace(
  lacks: readonly StoredType[],
  address: (cwd: string) => string | Promise<string>,
): Pick<OutputPlace, "lacks" | "read"> {
  return {
    lacks,
    async read(cwd) {
      const { types, lines } = await copyOf(await address(cwd));
      const [names = [], ...rows] = lines;
      return (name) => {
        const index = names.indexOf(JSON.stringify(name));
        const json = rows.map((row) => row[index] ?? "none");
        const cells = json.map((text) => (text === "null" ? absent : joinedText(text)));
        return { type: types[index] ?? null, cells };
      };
    },
  };
}

export const outputs = {
  CSV: {
    output: () => "out.csv",
    async read(cwd) {
      const text = await readFile(join(cwd, "out.csv"), "utf8");
      const [names = [], ...cells]: string[][] = parse(text, { record_delimiter: "\n" });
      return (name) => ({ cells: cells.map((row) => row[names.indexOf(name)]) });
    },
  },
  NDJSON: {
    output: () => "out.ndjson",
    async read(cwd) {
      const lines = (await readFile(join(cwd, "out.ndjson"), "utf8")).trimEnd().split("\n");
      return (name) => ({ cells: lines.map((line) => memberTexts(line).get(name)) });
    },
  },
  DuckDB: {
    output: () => "duckdb:out.duckdb?table=kept",
    ...typedPlace(
      ["numeric"],
      (cwd) => `duckdb:${cwd}/out.duckdb?query=FROM kept ORDER BY rep_row`,
    ),
  },
  Parquet: {
    output: () => "out.parquet",
    // Read by another library than the one that writes.
    ...typedPlace(["numeric"], (cwd) =>
      inputs.DuckDB.addressOf(`FROM '${cwd}/out.parquet' ORDER BY rep_row`),
    ),
  },
} satisfies Readonly<Record<string, OutputPlace>>;

/** Enriches rows and compares their columns in the output with them. */
async function expectKept(
  place: OutputPlace,
  { columns, addressOf }: InputPlace,
  rows: RandomRows,
): Promise<void> {
  const cwd = await temporaryFolder();
  const address = await addressOf(queryOfItems(columns, rows));
  const args = ["enrich", address, "-o", place.output(), "--item-column", "item", "--local"];
  const { code, stderr } = await runRepute([...args, "--quiet"], { cwd });
  expect(code, stderr).toBe(0);
  const warned = stderr.matchAll(/: column (\w+) is stored as text: it is ./g);
  const asText = Object.entries(columns).filter(([, own]) => isStoredAsText(place, own));
  expect(Array.from(warned, ([, name]) => name)).toEqual(asText.map(([name]) => name));
  await expectColumns(place, cwd, columns, rows);
}

function isStoredAsText({ lacks }: OutputPlace, own: RandomColumn): boolean {
  const type = keptType(own);
  return lacks !== undefined && (type === null || lacks.includes(type));
}

/** Compares columns of an output with those of rows. */
export async function expectColumns(
  place: OutputPlace,
  cwd: string,
  columns: RandomColumns,
  rows: RandomRows,
): Promise<void> {
  const read = await place.read(cwd);
  for (const [column, own] of Object.entries(columns)) {
    const { type, cells } = read(column);
    const expected = rows.map((row) => expectedIn(place, own, row[column] as never));
    const found = cells.map((cell = "", at) => {
      const value = rows[at]?.[column] as never;
      return value !== null && own.same?.(cell, value) === true ? expected[at]! : cell;
    });
    const { plain = String } = own.type.startsWith("json") ? place : {};
    const plainCells = (of: readonly string[]) =>
      of.map((cell) => (cell === absent ? cell : plain(lowerEscapes(cell))));
    expect({ column, type, cells: plainCells(found) }).toEqual({
      column,
      type: place.lacks && (isStoredAsText(place, own) ? "text" : keptType(own)),
      cells: plainCells(expected),
    });
  }
}

/** DuckDB writes the digits of JSON's escapes in upper case. */
function lowerEscapes(cell: string): string {
  return cell.replaceAll(/\\u[\dA-F]{4}/gi, (escape) => escape.toLowerCase());
}

function expectedIn(place: OutputPlace, own: RandomColumn, value: never): string {
  const isJson = place === outputs.NDJSON;
  if (value === null) return isJson ? "null" : place.lacks ? absent : "";
  const { cell, json } = expectedOf(own, value);
  if (isJson) return own.type.startsWith("json") ? cell : json;
  return place.lacks === undefined ? cell : (own.stored?.(value) ?? cell);
}
