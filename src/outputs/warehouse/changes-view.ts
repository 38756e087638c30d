import { verdicts } from "../../core/finding.js";
import {
  type DialectName,
  maxPostgresName,
  quoteIdentifier,
  quoteTable,
  type TableName,
} from "./dialect.js";
import type { TableSchema } from "./table-schema.js";

/** Columns of which each change has the earlier and the later value. */
const compared = ["verdict", "tags", "asn", "as_name", "abuse_email"] as const;

/** Compared columns that make a change by themselves; the name follows the AS number. */
const decisive = ["verdict", "tags", "asn", "abuse_email"] as const;

/**
 * CREATE VIEW of what changed about each item from one run to the next one that has an answer for it:
 * `worse`, `better` or `changed`, with both values. Null where PostgreSQL would cut the view's name.
 */
export function createChangesView(
  dialect: DialectName,
  table: TableName,
  { prefix }: Pick<TableSchema, "prefix">,
): string | null {
  const name = `${table.name}_changes`;
  if (dialect === "postgres" && Buffer.byteLength(name) > maxPostgresName) return null;
  const column = (plain: string): string => quoteIdentifier(dialect, prefix + plain);
  const columns = (...plain: readonly string[]): string => plain.map(column).join(", ");
  const item = columns("kind", "item");
  const lags = ["run_id", "looked_up_at", ...compared].map(
    (plain) => `lag(${column(plain)}) OVER steps AS ${column(`earlier_${plain}`)}`,
  );
  const gravity = (plain: string): string =>
    `CASE ${column(plain)} ${verdicts.map((verdict, index) => `WHEN '${verdict}' THEN ${verdicts.length - index}`).join(" ")} END`;
  const [now, before] = [gravity("verdict"), gravity("earlier_verdict")];
  const differs = decisive
    .map((plain) => `${column(plain)} IS DISTINCT FROM ${column(`earlier_${plain}`)}`)
    .join("\n     OR ");
  return [
    `CREATE VIEW ${quoteTable(dialect, { ...table, name })} AS`,
    "WITH answers AS (",
    `  SELECT ${item}, ${columns("run_id", "looked_up_at", ...compared)},`,
    `    row_number() OVER (PARTITION BY ${item}, ${column("run_id")} ORDER BY ${column("looked_up_at")} DESC NULLS LAST, ${column("row")} DESC) AS newest`,
    `  FROM ${quoteTable(dialect, table)}`,
    `  WHERE ${column("item")} IS NOT NULL AND ${column("verdict")} IS NOT NULL`,
    "), runs AS (",
    `  SELECT ${item}, ${columns("run_id", "looked_up_at", ...compared)},`,
    `    ${lags.join(",\n    ")}`,
    "  FROM answers WHERE newest = 1",
    `  WINDOW steps AS (PARTITION BY ${item} ORDER BY ${columns("looked_up_at", "run_id")})`,
    ")",
    `SELECT CASE WHEN ${now} > ${before} THEN 'worse'`,
    `    WHEN ${now} < ${before} THEN 'better' ELSE 'changed' END AS ${column("change")}, *`,
    "FROM runs",
    `WHERE ${column("earlier_run_id")} IS NOT NULL`,
    `  AND (${differs});`,
  ].join("\n");
}
