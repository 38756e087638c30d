import {
  type SchemaDialect,
  quoteIdentifier,
  quoteTable,
  type TableName,
  viewSuffixes,
} from "./dialect.js";
import type { TableSchema } from "../typed/table-schema.js";
import { verdicts } from "../../../core/finding.js";
import { blocklistStatuses, intents } from "../../../core/endpoints/endpoint.js";

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

/** Columns of which each change has the earlier and the later value. */
const compared = ["verdict", "tags", "asn", "as_name", "abuse_email"] as const;

/** Compared columns that make a change by themselves, and the member of the answer that each is from. */
const decisive = { tags: "tags", asn: "asn", abuse_email: "abuseContact" } as const;

/** Columns that can speak against an item, and the member of the answer that each is from. */
const accusing = {
  intent: "intent",
  quick_intent: "intent",
  mail_blocklist: "serviceMailBlocklist",
  quick_mail_blocklist: "serviceMailBlocklist",
} as const;

const changesNeeds: readonly string[] = [
  "kind",
  "item",
  "status",
  "missing",
  "type",
  "looked_up_at",
  ...compared,
  ...Object.keys(accusing),
];

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

/**
 * CREATE VIEW of what changed about each item from one run to the next one that knows its verdict:
 * `worse`, `better` or `changed`, with both values. What an answer lacks is not compared, as in
 * `repute diff`. Runs follow each other by their ids, which sort by start: an answer from the cache
 * may be older than that of an earlier run.
 */
function createChangesView(
  dialect: SchemaDialect,
  table: TableName,
  { prefix }: Pick<TableSchema, "prefix">,
): string {
  const name = table.name + viewSuffixes.changes;
  const column = (plain: string): string => quoteIdentifier(dialect, prefix + plain);
  const columns = (...plain: readonly string[]): string => plain.map(column).join(", ");
  const item = columns("kind", "item");
  const lacks = (member: string): string => {
    const missing = column("missing");
    return `coalesce(${dialect.isIn(`'${member}'`, missing)}, FALSE)`;
  };
  const weights = weightsOf(column, lacks);
  const facts = {
    ...weights,
    ...Object.fromEntries(
      Object.entries(decisive).map(([plain, member]) => [
        `knows_${plain}`,
        `${column("type")} IS NOT NULL AND NOT ${lacks(member)}`,
      ]),
    ),
  };
  const lag = (from: string, as: string): string => `lag(${from}) OVER steps AS ${as}`;
  const earlier = ["run_id", "looked_up_at", ...compared];
  const lags = [
    ...earlier.map((plain) => lag(column(plain), column(`earlier_${plain}`))),
    ...Object.keys(facts).map((name) => lag(name, `earlier_${name}`)),
  ];
  const own = columns("kind", "item", ...earlier);
  return [
    `CREATE VIEW ${quoteTable(dialect, { ...table, name })} AS`,
    "WITH answers AS (",
    `  SELECT ${own},`,
    ...Object.entries(facts).map(([fact, expression]) => `    ${expression} AS ${fact},`),
    `    row_number() OVER (PARTITION BY ${item}, ${column("run_id")} ORDER BY ${column("looked_up_at")} DESC NULLS LAST, ${column("row")} DESC) AS newest`,
    `  FROM ${quoteTable(dialect, table)}`,
    `  WHERE ${column("item")} IS NOT NULL AND ${column("verdict")} IS NOT NULL`,
    "), runs AS (",
    "  SELECT *,",
    `    ${lags.join(",\n    ")}`,
    "  FROM answers WHERE newest = 1",
    `  WINDOW steps AS (PARTITION BY ${item} ORDER BY ${column("run_id")})`,
    "), changes AS (",
    `  SELECT ${changeOf(dialect, column)} AS ${column("change")},`,
    `    ${own}, ${columns(...earlier.map((plain) => `earlier_${plain}`))}`,
    `  FROM runs WHERE ${column("earlier_run_id")} IS NOT NULL`,
    ")",
    `SELECT * FROM changes WHERE ${column("change")} IS NOT NULL;`,
  ].join("\n");
}

function changeOf(dialect: SchemaDialect, column: (plain: string) => string): string {
  const [isNow, was] = [shared("", "earlier_"), shared("earlier_", "")];
  const gravity = (plain: string): string =>
    `CASE ${column(plain)} ${verdicts.map((verdict, index) => `WHEN '${verdict}' THEN ${verdicts.length - index}`).join(" ")} END`;
  const [now, before] = [gravity("verdict"), gravity("earlier_verdict")];
  const comparable = (plain: string): string =>
    plain.endsWith("tags") ? dialect.comparable(column(plain)) : column(plain);
  const differs = Object.keys(decisive).map(
    (plain) =>
      `(knows_${plain} AND earlier_knows_${plain} AND ${comparable(plain)} IS DISTINCT FROM ${comparable(`earlier_${plain}`)})`,
  );
  return [
    `CASE WHEN ${now} > ${before} AND ${isNow} > ${was} THEN 'worse'`,
    `    WHEN ${now} < ${before} AND ${isNow} < ${was} THEN 'better'`,
    `    WHEN ${differs.join("\n      OR ")} THEN 'changed' END`,
  ].join("\n");
}

/**
 * How grave each of them is. NULL where a lookup failed, or its answer lacks the member or has an
 * undocumented word.
 */
function weightsOf(column: (plain: string) => string, lacks: (member: string) => string) {
  const lost = `${column("status")} IN ('failed', 'invalid')`;
  const weights = Object.entries(accusing).map(([plain, member]) => {
    const unknown = plain.startsWith("quick_")
      ? `${column(plain)} IS NULL AND (${lost} OR ${lacks(member)})`
      : `${lacks(member)} OR (${lost} AND ${column("type")} IS NULL)`;
    const grave = ["ACTIVE", "suspicious", "malicious"].map(
      (value, index) => `WHEN ${column(plain)} = '${value}' THEN ${index + 1}`,
    );
    const words = (member === "intent" ? intents : blocklistStatuses).map((word) => `'${word}'`);
    const isOther = `${column(plain)} NOT IN (${words.join(", ")})`;
    return [
      `${plain}_weight`,
      `CASE WHEN ${unknown} OR ${isOther} THEN NULL ${grave.join(" ")} ELSE 0 END`,
    ];
  });
  return Object.fromEntries(weights) as Record<string, string>;
}

/** The gravest that a run says with the members that both runs know. */
function shared(run: string, other: string): string {
  const weights = Object.keys(accusing).map(
    (plain) =>
      `CASE WHEN ${other}${plain}_weight IS NULL THEN 0 ELSE coalesce(${run}${plain}_weight, 0) END`,
  );
  return `greatest(${weights.join(", ")})`;
}
