import { UsageError } from "../../core/errors.js";
import { checkTable } from "../warehouse/check-table.js";
import type { CatalogueTypes, FoundColumn } from "../warehouse/check-table.js";
import { createEnrichedTable, createNewestView } from "../warehouse/ddl.js";
import {
  checkpointTableName,
  createCheckpointTable,
  quoteIdentifier,
  quoteTable,
} from "../warehouse/dialect.js";
import type { TableName } from "../warehouse/dialect.js";
import { tableText } from "../warehouse/dialect.js";
import type { TableSchema } from "../warehouse/table-schema.js";
import { duplicateTable, faultCode } from "./server-fault.js";
import type { Session } from "./session.js";

/** As `format_type` calls them. */
const catalogueTypes: CatalogueTypes = {
  text: "text",
  boolean: "boolean",
  count: "bigint",
  timestamp: "timestamp with time zone",
  "text[]": "text[]",
};

interface FoundTable {
  readonly oid: string;
  readonly schema: string;
  /** `r` table, `p` partitioned table, `v` view … (pg_class.relkind). */
  readonly kind: string;
}

/**
 * Makes sure that the table and the checkpoint table beside it are there and can take the rows. A
 * table that is made gets the view of the newest rows. What is there already is never altered.
 *
 * @returns the table with the schema that it is in
 * @throws UsageError `schema_missing`, `not_a_table`, `table_lacks_columns`, `table_types_differ`,
 * `table_lacks_key`, `database_encoding`; what the server throws
 */
export async function prepareTable(
  session: Session,
  wanted: TableName,
  schema: TableSchema,
): Promise<TableName> {
  // Two runs that start together would make the same tables.
  await session.rows("SELECT pg_advisory_xact_lock(hashtextextended('repute tables', 0))");
  await checkEncoding(session);
  const found = await findTable(session, wanted);
  const table = { ...wanted, schema: found?.schema ?? (await schemaFor(session, wanted)) };
  if (found === null) await createTables(session, table, schema);
  else await checkFound(session, table, schema, found);
  if ((await findTable(session, { ...table, name: checkpointTableName })) === null) {
    await session.execute(createCheckpointTable("postgres", table.schema));
  }
  return table;
}

/** The table as the server finds it by its name, or null. */
export async function findTable(session: Session, table: TableName): Promise<FoundTable | null> {
  const [found] = await session.rows<FoundTable>(
    `SELECT c.oid::text AS oid, n.nspname AS schema, c.relkind::text AS kind
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass($1)`,
    [quoteTable("postgres", table)],
  );
  return found ?? null;
}

async function checkEncoding(session: Session): Promise<void> {
  const [found] = await session.rows<{ encoding: string }>(
    "SELECT current_setting('server_encoding') AS encoding",
  );
  if (found?.encoding === "UTF8") return;
  throw new UsageError(
    "database_encoding",
    `the database's encoding is ${found?.encoding}, which cannot hold every text`,
    { hint: "use a database with the encoding UTF8" },
  );
}

/** The schema of a new table: the one that is named, or the first of the search path. */
async function schemaFor(session: Session, { schema, name }: TableName): Promise<string> {
  const [found] = await session.rows<{ schema: string | null }>(
    "SELECT coalesce((SELECT nspname FROM pg_namespace WHERE nspname = $1), CASE WHEN $1::name IS NULL THEN current_schema() END) AS schema",
    [schema],
  );
  if (found?.schema) return found.schema;
  throw new UsageError(
    "schema_missing",
    schema === null
      ? `there is no schema for the table ${name} in the search path`
      : `there is no schema ${schema} for ${tableText({ schema, name })}`,
    {
      hint:
        schema === null
          ? "name one: table=SCHEMA.NAME"
          : `create it first: CREATE SCHEMA ${quoteIdentifier("postgres", schema)};`,
    },
  );
}

async function createTables(
  session: Session,
  table: TableName,
  schema: TableSchema,
): Promise<void> {
  await session.execute(createEnrichedTable("postgres", table, schema));
  await session.execute("SAVEPOINT newest");
  try {
    await session.execute(createNewestView("postgres", table, schema));
  } catch (error) {
    // Something of that name is there: it is left alone.
    if (faultCode(error) !== duplicateTable) throw error;
    await session.execute("ROLLBACK TO SAVEPOINT newest");
  }
}

async function checkFound(
  session: Session,
  table: TableName,
  schema: TableSchema,
  { oid, kind }: FoundTable,
): Promise<void> {
  if (kind !== "r" && kind !== "p") {
    throw new UsageError("not_a_table", `${tableText(table)} is there and is no table`, {
      hint: "name another table",
    });
  }
  const columns = await session.rows<FoundColumn>(
    `SELECT attname AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute
     WHERE attrelid = $1::oid AND attnum > 0 AND NOT attisdropped`,
    [oid],
  );
  checkTable("postgres", table, schema, columns, catalogueTypes);
  const [key] = await session.rows(
    `SELECT 1 FROM pg_index i WHERE i.indrelid = $1::oid AND i.indisunique AND i.indisvalid
     AND i.indpred IS NULL AND i.indnkeyatts = 2 AND $2::text[] = (
       SELECT array_agg(a.attname::text ORDER BY a.attname::text COLLATE "C") FROM pg_attribute a
       WHERE a.attrelid = i.indrelid AND a.attnum IN (i.indkey[0], i.indkey[1]))`,
    [oid, [...schema.key].sort()],
  );
  if (key !== undefined) return;
  const names = schema.key.map((name) => quoteIdentifier("postgres", name)).join(", ");
  throw new UsageError(
    "table_lacks_key",
    `the table ${tableText(table)} has no key of ${schema.key.join(" and ")}`,
    {
      hint: `add it, or name another table:\nALTER TABLE ${quoteTable("postgres", table)} ADD PRIMARY KEY (${names});`,
    },
  );
}
