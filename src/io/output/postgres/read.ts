import type { QueryArrayConfig, QueryConfig, FieldDef } from "pg";
import { ReputeError } from "../../../core/errors.js";
import {
  queryRefused,
  severalStatements,
  type Selection,
  type SelectionReading,
} from "../sql/table-database.js";
import type { TableReceiver } from "../../input/table-input.js";
import { quoteTable } from "../sql/dialect.js";
import { postgres } from "./dialect.js";
import { PostgresDatabase, type PostgresServer, type PostgresSession } from "./database.js";
import { decimalType } from "../../formats/column-types.js";
import type { InputType, StoredType } from "../../formats/typed-column.js";
import { type InputValue, JsonText, numberValue } from "../../formats/input-values.js";

/** Rows of the first page, before the size of a row is known, and the most of a page. */
const pageRows = { first: 100, most: 10_000 };

const pageCharacters = 4 * 1024 * 1024;

/** How values are printed, and that all rows of a cursor will be fetched. */
const settings = [
  "SET LOCAL TimeZone = 'UTC'",
  "SET LOCAL DateStyle = 'ISO, YMD'",
  "SET LOCAL extra_float_digits = 1",
  "SET LOCAL cursor_tuple_fraction = 1",
  // A query may sort a large table before its first row.
  "SET LOCAL statement_timeout = 0",
];

/** Timeout of pg for the rows of a cursor. Keepalives detect a dead server long before. */
const query_timeout = 24 * 60 * 60_000;

interface CursorQuery extends QueryConfig {
  readonly queryMode?: "extended";
  readonly query_timeout: number;
}

/**
 * Reads a table or the result of a query in one read-only transaction, through a cursor. A lost
 * connection starts it over.
 */
export async function readPostgresTable(
  target: PostgresServer,
  { selection, receiver, ...options }: SelectionReading,
): Promise<void> {
  const database = new PostgresDatabase(target, { ...options, access: "read" });
  try {
    const read = async (session: PostgresSession): Promise<void> => {
      try {
        await declare(session, selection);
        await fetchAll(session, receiver, options.signal);
      } catch (error) {
        throw "query" in selection ? explained(error) : error;
      }
    };
    await database.transaction(read, "ROLLBACK");
  } finally {
    await database.close();
  }
}

async function declare(session: PostgresSession, selection: Selection): Promise<void> {
  await session.client.query(settings.join("; "));
  const query =
    "query" in selection
      ? selection.query
      : `SELECT * FROM ${quoteTable(postgres, selection.table)}`;
  // The extended protocol refuses more than one query.
  const text = `DECLARE repute_input NO SCROLL CURSOR FOR ${query}`;
  const statement: CursorQuery = { text, queryMode: "extended", query_timeout };
  await session.client.query(statement);
}

async function fetchAll(
  session: PostgresSession,
  receiver: TableReceiver,
  signal: AbortSignal | undefined,
): Promise<void> {
  let columns: FetchedColumns | null = null;
  for (let count = pageRows.first; ;) {
    signal?.throwIfAborted();
    // Values are as the server prints them.
    const statement: CursorQuery & QueryArrayConfig = {
      text: `FETCH FORWARD ${count} FROM repute_input`,
      rowMode: "array",
      types: { getTypeParser: () => (text: string) => text },
      query_timeout,
    };
    const { fields, rows } = await session.client.query<(string | null)[]>(statement);
    if (columns === null) {
      columns = await fetchedColumns(session, fields);
      await receiver.begin(columns.names, columns.types);
    }
    if (rows.length === 0) return;
    const { readers } = columns;
    await receiver.rows(
      rows.map((row) => row.map((text, index) => (text === null ? null : readers[index]!(text)))),
    );
    count = nextCount(rows);
  }
}

/** As many rows as fill a page, judging by this one. */
function nextCount(rows: readonly (readonly (string | null)[])[]): number {
  let characters = 1;
  for (const row of rows) for (const cell of row) characters += cell?.length ?? 0;
  const fitting = Math.floor((rows.length * pageCharacters) / characters);
  return Math.max(1, Math.min(pageRows.most, fitting));
}

/** SQLSTATEs of the server that concern the query: syntax, names, types, read-only transaction. */
const ofQuery = /^(?:42(?!501)|22|25006|0A000|2F|3F|21)/;

function explained(error: unknown): unknown {
  if (error instanceof ReputeError || !(error instanceof Error)) return error;
  const { code = "" } = error as { code?: string };
  if (!ofQuery.test(code)) return error;
  if (/multiple commands/.test(error.message)) return severalStatements();
  return queryRefused(error.message, error);
}

interface FetchedColumns {
  readonly names: readonly string[];
  readonly types: readonly InputType[];
  /** What reads the text of a value, as the server prints it in UTC; one per column. */
  readonly readers: readonly ((text: string) => InputValue)[];
}

/** The columns of a result, whose types the server knows by number. */
async function fetchedColumns(
  session: PostgresSession,
  fields: readonly FieldDef[],
): Promise<FetchedColumns> {
  const rows = await session.query(
    `SELECT oid::int8, format_type(oid, NULL), typtype = 'e' OR typcategory = 'S',
       CASE WHEN typcategory = 'A' AND typdelim = ',' THEN typelem::int8 END
     FROM pg_type WHERE oid = ANY (string_to_array($1, ',')::oid[])`,
    [fields.map(({ dataTypeID }) => dataTypeID).join(",")],
  );
  const known = new Map(rows.map(([oid, ...facts]) => [Number(oid), facts]));
  const types = fields.map(({ dataTypeID, dataTypeModifier }) => {
    const [name = null, isText = false] = known.get(dataTypeID) ?? [];
    const own = isText ? "text" : postgresType(dataTypeID, dataTypeModifier);
    return { type: own, declared: String(name ?? "untyped") };
  });
  const arrays = rows.filter(([, , , element]) => element !== null);
  const elements = new Map(arrays.map(([oid, , , element]) => [Number(oid), Number(element)]));
  return {
    names: fields.map(({ name }) => name),
    types,
    readers: fields.map(({ dataTypeID }) => columnReader(dataTypeID, elements)),
  };
}

/** Element types by array type, as the server numbers them. */
type ElementTypes = ReadonlyMap<number, number>;

function columnReader(type: number, elements: ElementTypes): (text: string) => InputValue {
  const element = elements.get(type);
  if (element !== undefined) {
    const read = columnReader(element, elements);
    return (text) => arrayValue(text, read);
  }
  return readers[storedTypes.get(type) ?? "text"] ?? ((text) => text);
}

const readers: Partial<Record<StoredType, (text: string) => InputValue>> = {
  boolean: (text) => text === "t",
  integer: BigInt,
  float: numberValue,
  number: numberValue,
  numeric: numberValue,
  // Line ends would break a record of NDJSON; JSON has them only between tokens.
  json: (text) => new JsonText(text.replaceAll(/[\r\n]+/g, " ")),
  timestamp_local: (text) => timestamp(`${text}+00`, text),
  timestamp: (text) => timestamp(text, text),
};

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

/** RFC 3339; infinite times and those before Christ stay as the server prints them. */
function timestamp(zoned: string, printed: string): string {
  const parts = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)\+00$/.exec(zoned);
  return parts === null ? printed : `${parts[1]}T${parts[2]}Z`;
}

/** Parses the text of an array (PostgreSQL manual, section 8.15.6). */
function arrayValue(text: string, read: (text: string) => InputValue): InputValue {
  // Bounds other than from 1 come before the braces: [0:1]={a,b}.
  let at = text.indexOf("{") + 1;
  const list = (): InputValue[] => {
    const entries: InputValue[] = [];
    while (at < text.length) {
      const first = text[at];
      if (first === "}") {
        at++;
        break;
      }
      if (first === ",") at++;
      else if (first === "{") {
        at++;
        entries.push(list());
      } else entries.push(entry());
    }
    return entries;
  };
  const entry = (): InputValue => {
    const quoted = /^"((?:[^"\\]|\\[^])*)"|^[^,{}]*/.exec(text.slice(at)) ?? [""];
    at += Math.max(1, quoted[0].length);
    if (quoted[1] !== undefined) return read(quoted[1].replaceAll(/\\([^])/g, "$1"));
    return quoted[0] === "NULL" ? null : read(quoted[0]);
  };
  return list();
}
