import type { Readable } from "node:stream";
import type { Client, FieldDef, QueryArrayConfig, QueryConfig } from "pg";
import { ReputeError } from "../../../core/errors.js";
import { writeChunks } from "../../../core/files/write-chunks.js";
import { loadDriver } from "../../../core/load-driver.js";
import { decimalType, type InputType, type StoredType } from "../../formats/column-types.js";
import { type CopiedTable, copyHeader } from "../../input/table-input.js";
import {
  copiedName,
  onOneLine,
  queryRefused,
  selectLines,
  severalStatements,
  textJson,
  timeJson,
} from "../sql/copy-statement.js";
import type { Selection } from "../sql/dialect.js";

/** Lets the server copy the result of a query, within a transaction. */
export async function copyFromPostgres(
  client: Client,
  { query, isOwn }: Selection,
  path: string | null,
  signal: AbortSignal | undefined,
): Promise<CopiedTable> {
  try {
    await client.query(printing.join("; "));
    const found = await findColumns(client, query);
    const copied = { columns: found.names, types: found.types };
    if (path === null) return { ...copied, rows: 0 };
    const lines = selectLines(query, found.columns, "line");
    const statement = `COPY (${lines}) TO STDOUT (${linesAsTheyAre})`;
    const rows = await writeLines(client, path, copyHeader(found.names), statement, signal);
    return { ...copied, rows };
  } catch (error) {
    throw isOwn ? explained(error) : error;
  }
}

/** Writes what a COPY sends. @returns the number of rows */
async function writeLines(
  client: Client,
  path: string,
  header: string,
  statement: string,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { to } = await loadCopyStreams();
  const stream: Readable & { readonly rowCount: number; callback?: () => void } = client.query(
    Object.assign(to(statement), { query_timeout }),
  );
  // After it ended, too: when the connection closes.
  stream.on("error", () => undefined);
  const stop = (): void => void stream.destroy(signal?.reason as Error);
  signal?.addEventListener("abort", stop);
  const lines = async function* () {
    yield header;
    yield* stream as AsyncIterable<Buffer>;
  };
  try {
    await writeChunks(path, lines());
    return stream.rowCount;
  } catch (error) {
    // The server still sends: a ROLLBACK would have to wait.
    client.connection.stream.destroy();
    throw error;
  } finally {
    signal?.removeEventListener("abort", stop);
    // pg's timer would go on.
    stream.callback?.();
  }
}

export const loadCopyStreams = () => loadDriver("pg-copy-streams", () => import("pg-copy-streams"));

/** Lines stay as they are: JSON has neither of these characters, nor line ends. */
export const linesAsTheyAre = "FORMAT csv, DELIMITER '\u0002', QUOTE '\u0001', ENCODING 'UTF8'";

/** How values are printed. */
const printing = [
  "SET LOCAL TimeZone = 'UTC'",
  "SET LOCAL DateStyle = 'ISO, YMD'",
  "SET LOCAL extra_float_digits = 1",
  "SET LOCAL standard_conforming_strings = on",
  // A query may sort a large table before its first row.
  "SET LOCAL statement_timeout = 0",
];

/** Timeout of pg for the rows. Keepalives detect a dead server long before. */
const query_timeout = 24 * 60 * 60_000;

/** SQLSTATEs of the server that concern the query: syntax, names, types, read-only transaction. */
const ofQuery = /^(?:42(?!501)|22|25006|0A000|2F|3F|21)/;

function explained(error: unknown): unknown {
  if (error instanceof ReputeError || !(error instanceof Error)) return error;
  const { code = "" } = error as { code?: string };
  if (!ofQuery.test(code)) return error;
  if (/multiple commands/.test(error.message)) return queryRefused(severalStatements);
  return queryRefused(error.message, error);
}

/** The columns of a query, whose names may repeat. The server knows types by number. Reads no rows. */
async function findColumns(client: Client, query: string) {
  // A cursor is for one query that selects; the extended protocol refuses more than one.
  const declare: QueryConfig & { readonly queryMode: "extended"; readonly query_timeout: number } =
    {
      text: `DECLARE repute_input NO SCROLL CURSOR FOR ${query}`,
      queryMode: "extended",
      query_timeout,
    };
  await client.query(declare);
  const fetch: QueryArrayConfig = { text: "FETCH 0 FROM repute_input", rowMode: "array" };
  const { fields } = await client.query(fetch);
  await client.query("CLOSE repute_input");
  const { rows } = await client.query<(string | boolean | null)[]>({
    text: `SELECT oid::int8, format_type(oid, NULL), typtype = 'e' OR typcategory = 'S',
       CASE WHEN typcategory = 'A' AND typdelim = ',' THEN typelem::int8 END
     FROM pg_type WHERE oid = ANY ($1::oid[])`,
    values: [fields.map(({ dataTypeID }) => dataTypeID)],
    rowMode: "array",
  });
  const known = new Map(rows.map(([oid, ...facts]) => [Number(oid), facts]));
  const factsOf = ({ dataTypeID }: FieldDef) => known.get(dataTypeID) ?? [];
  return {
    names: fields.map(({ name }) => name),
    types: fields.map((field): InputType => {
      const [name = null, isText = false] = factsOf(field);
      const own = isText ? "text" : postgresType(field.dataTypeID, field.dataTypeModifier);
      return { type: own, declared: String(name ?? "untyped") };
    }),
    columns: fields.map((field, index) => {
      const element = factsOf(field)[2] ?? null;
      const value = copiedName(index);
      return element === null ? jsonOf(field.dataTypeID, value) : listJson(Number(element), value);
    }),
  };
}

/** The JSON of a column, as SQL: null for null. */
function jsonOf(type: number, value: string): string {
  const kind = storedTypes.get(type) ?? "text";
  if (kind === "boolean" || kind === "integer") return `${value}::text`;
  if (kind === "float" || kind === "number" || kind === "numeric") return textJson(value);
  // As the server prints it, which for some types is not what a cast makes of it.
  const printed = `CASE WHEN ${value} IS NOT NULL THEN concat(${value}) END`;
  if (isTime(type)) return timeJson(printed);
  return textJson(kind === "json" ? onOneLine(printed) : printed);
}

function listJson(element: number, value: string): string {
  const list = onOneLine(textJson(value));
  if (!isTime(element)) return list;
  return String.raw`regexp_replace(${list}, '(\d)(?:\+00:00)?"', '\1Z"', 'g')`;
}

function isTime(type: number): boolean {
  return storedTypes.get(type)?.startsWith("timestamp") === true;
}

/**
 * The type of a column; null if it becomes text.
 *
 * @param modifier of the type, -1 for none
 */
function postgresType(type: number, modifier: number): StoredType | null {
  if (type !== numericType) return storedTypes.get(type) ?? null;
  // Precision and scale are in the modifier (numeric.c, make_numeric_typmod).
  const packed = modifier - 4;
  const scale = ((packed & 0x7ff) ^ 1024) - 1024;
  return (modifier < 4 ? null : decimalType((packed >> 16) & 0xffff, scale)) ?? "numeric";
}

const numericType = 1700;

/** By the numbers of PostgreSQL's own types (pg_type.dat), which never change. */
const storedTypes: ReadonlyMap<number, StoredType> = new Map([
  [16, "boolean"],
  [20, "integer"],
  [21, "integer"],
  [23, "integer"],
  [26, "integer"],
  [114, "json"],
  [700, "float"],
  [701, "number"],
  [705, "text"],
  [1082, "date"],
  [1114, "timestamp_local"],
  [1184, "timestamp"],
  [numericType, "numeric"],
  [2950, "uuid"],
  [3802, "json"],
]);
