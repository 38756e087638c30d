import { changesNeeds, createChangesView } from "./changes-view.js";
import {
  type SchemaDialect,
  quoteIdentifier,
  quoteTable,
  type TableName,
  viewSuffixes,
} from "./dialect.js";
import type { TableSchema } from "../typed/table-schema.js";

interface TableView {
  readonly view: TableName;
  readonly about: readonly string[];
  readonly create: string;
  /** It has all columns of the table, those that are added later too. */
  readonly showsAll: boolean;
}

type ViewedTable = Pick<TableSchema, "prefix" | "rowKey" | "key" | "mode"> & {
  readonly columns: readonly { readonly name: string }[];
};

/** What makes each view, and the columns that it needs, without the prefix. */
const kinds = {
  newest: {
    needs: ["kind", "item", "looked_up_at"],
    create: createNewestView,
    about: ["The newest row of each item."],
  },
  changes: {
    needs: changesNeeds,
    create: createChangesView,
    about: ["What changed about each item from one run to the next that knows its verdict."],
  },
  history: {
    needs: ["kind", "item", "verdict", "looked_up_at"],
    create: createHistoryView,
    about: [
      "One row per item and verdict, for consecutive runs with that verdict. valid_from is when the rows of the",
      "first of them were published, valid_to is where the item's next row begins; NULL while the verdict holds.",
      "A run that lacks the item, or does not know its verdict, neither begins nor ends a row.",
    ],
  },
} as const;

/**
 * The views of a table: those that its mode gives a meaning and its columns suffice for. A table that
 * keeps one run has no past, and one with a row per item holds the newest rows itself.
 */
export function viewsOf(
  dialect: SchemaDialect,
  table: TableName,
  schema: ViewedTable,
): readonly TableView[] {
  const { prefix, mode } = schema;
  const names = new Set(schema.columns.map(({ name }) => name));
  const hasHistory = mode === "append";
  return (["newest", "changes", "history"] as const)
    .filter((name) => (name === "newest" ? !isPerItem(schema) : hasHistory))
    .filter((name) => kinds[name].needs.every((plain) => names.has(prefix + plain)))
    .map((name) => ({
      view: { ...table, name: table.name + viewSuffixes[name] },
      about: kinds[name].about,
      create: kinds[name].create(dialect, table, schema),
      showsAll: name === "newest",
    }));
}

function isPerItem({ prefix, key, mode }: ViewedTable): boolean {
  return mode === "merge" && key.join() === [`${prefix}kind`, `${prefix}item`].join();
}

/**
 * CREATE VIEW of each item's newest row: the one with the latest answer, with a stable choice among
 * rows that share an answer. Rows without an item are excluded.
 */
function createNewestView(
  dialect: SchemaDialect,
  table: TableName,
  { prefix, rowKey }: Pick<TableSchema, "prefix" | "rowKey">,
): string {
  const quote = (name: string): string => quoteIdentifier(dialect, name);
  const group = `${quote(`${prefix}kind`)}, ${quote(`${prefix}item`)}`;
  const order = `${quote(`${prefix}status`)} = 'failed', ${quote(`${prefix}looked_up_at`)} DESC NULLS LAST, ${quote(rowKey[0])} DESC, ${quote(rowKey[1])} DESC`;
  const where = `WHERE ${quote(`${prefix}item`)} IS NOT NULL`;
  const from = `FROM ${quoteTable(dialect, table)}`;
  const select = dialect.firstRows({ from, where, group, order });
  const view = quoteTable(dialect, { ...table, name: table.name + viewSuffixes.newest });
  return `CREATE VIEW ${view} AS\n${select.join("\n")};`;
}

/**
 * CREATE VIEW of periods: one row per item and verdict, for the runs in a row that gave the item that
 * verdict. A period begins when the rows of its first run were published and ends where the item's
 * next period begins; `valid_to` is NULL while it lasts. A run that lacks the item or knows no verdict
 * neither begins nor ends a period.
 */
function createHistoryView(
  dialect: SchemaDialect,
  table: TableName,
  { prefix, rowKey }: Pick<TableSchema, "prefix" | "rowKey">,
): string {
  const column = (plain: string): string => quoteIdentifier(dialect, prefix + plain);
  const item = `${column("kind")}, ${column("item")}`;
  const runId = column("run_id");
  const byRun = `OVER (PARTITION BY ${item} ORDER BY ${runId})`;
  const view = { ...table, name: table.name + viewSuffixes.history };
  return [
    `CREATE VIEW ${quoteTable(dialect, view)} AS`,
    "WITH answers AS (",
    `  SELECT ${item}, ${column("verdict")}, ${runId}, ${column("loaded_at")},`,
    `    row_number() OVER (PARTITION BY ${item}, ${runId} ORDER BY ${column("looked_up_at")} DESC NULLS LAST, ${quoteIdentifier(dialect, rowKey[1])} DESC) AS newest`,
    `  FROM ${quoteTable(dialect, table)}`,
    `  WHERE ${column("item")} IS NOT NULL AND ${column("verdict")} IS NOT NULL`,
    "), steps AS (",
    `  SELECT ${item}, ${column("verdict")}, ${runId},`,
    // A run that is resumed after the next one is published after it. No period ends before it begins.
    `    max(${column("loaded_at")}) ${byRun} AS since,`,
    `    CASE WHEN ${column("verdict")} = lag(${column("verdict")}) ${byRun} THEN 0 ELSE 1 END AS begins`,
    "  FROM answers WHERE newest = 1",
    "), numbered AS (",
    `  SELECT *, sum(begins) ${byRun} AS number FROM steps`,
    ")",
    `SELECT ${item}, ${column("verdict")}, min(since) AS valid_from,`,
    `  lead(min(since)) OVER (PARTITION BY ${item} ORDER BY number) AS valid_to,`,
    `  min(${runId}) AS first_run_id, max(${runId}) AS last_run_id, count(*) AS runs`,
    `FROM numbered GROUP BY ${item}, ${column("verdict")}, number;`,
  ].join("\n");
}
