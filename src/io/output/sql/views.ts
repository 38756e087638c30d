import { quoteTable, runsTable, type SchemaDialect, type TableName } from "./dialect.js";
import type { TableSchema } from "../typed/table-schema.js";
import { verdicts } from "../../../core/finding.js";
import { blocklistStatuses, intents } from "../../../core/endpoints/endpoint.js";

type ViewedTable = Pick<TableSchema, "prefix" | "key" | "mode"> & {
  readonly columns: readonly { readonly name: string }[];
};

/** Columns of which each change has the earlier and the later value. */
const others = ["looked_up_at", "verdict", "tags", "asn", "as_name", "abuse_email"];
const compared = ["run_id", ...others];

/** Columns that make a change by themselves, and the member of the answer that each is from. */
const decisive = { tags: "tags", asn: "asn", abuse_email: "abuseContact" };

/** Columns that can speak against an item, and the member of the answer that each is from. */
const accusing = {
  intent: "intent",
  quick_intent: "intent",
  mail_blocklist: "serviceMailBlocklist",
  quick_mail_blocklist: "serviceMailBlocklist",
};

const weights: Readonly<Record<string, number>> = { malicious: 3, suspicious: 2, ACTIVE: 1 };

interface ViewKind {
  readonly about: readonly string[];
  /** Columns that it reads and a table may lack, without the prefix. */
  readonly needs: readonly string[];
  /** Its query, with `{name}` for a column without its prefix, `{TABLE}` and `{RUNS}`. */
  readonly select: (dialect: SchemaDialect) => string;
}

const kinds = {
  // With a stable choice among rows that share an answer.
  newest: {
    about: ["The newest row of each item."],
    needs: ["kind", "item", "looked_up_at"],
    select: ({ firstRows }) =>
      firstRows({
        from: "FROM {TABLE}",
        where: "WHERE {item} IS NOT NULL",
        group: "{kind}, {item}",
        order: "{status} = 'failed', {looked_up_at} DESC NULLS LAST, {run_id} DESC, {row} DESC",
      }),
  },
  changes: {
    about: [
      "What changed about each item from one run to the next that knows its verdict, and which items are new or",
      "gone since the run before. Only runs that read their whole input are compared for new and gone items.",
    ],
    needs: ["kind", "item", "missing", "type", ...Object.keys(accusing), ...compared],
    select: selectChanges,
  },
  history: {
    about: [
      "One row per item and verdict, for consecutive runs with that verdict. valid_from is when the rows of the",
      "first of them were published, valid_to is where the item's next row begins; NULL while the verdict holds.",
      "A run that lacks the item, or does not know its verdict, neither begins nor ends a row.",
    ],
    needs: ["kind", "item", "verdict", "looked_up_at"],
    // A run may be resumed, and published, after a later one. No period ends before it begins.
    select: () => `WITH answers AS (
  SELECT {kind}, {item}, {verdict}, {run_id}, {loaded_at},
    row_number() OVER (PARTITION BY {kind}, {item}, {run_id} ORDER BY {looked_up_at} DESC NULLS LAST, {row} DESC) AS newest
  FROM {TABLE}
  WHERE {item} IS NOT NULL AND {verdict} IS NOT NULL
), steps AS (
  SELECT {kind}, {item}, {verdict}, {run_id},
    max({loaded_at}) OVER (PARTITION BY {kind}, {item} ORDER BY {run_id}) AS since,
    CASE WHEN {verdict} = lag({verdict}) OVER (PARTITION BY {kind}, {item} ORDER BY {run_id}) THEN 0 ELSE 1 END AS begins
  FROM answers WHERE newest = 1
), numbered AS (
  SELECT *, sum(begins) OVER (PARTITION BY {kind}, {item} ORDER BY {run_id}) AS number FROM steps
)
SELECT {kind}, {item}, {verdict}, min(since) AS valid_from,
  lead(min(since)) OVER (PARTITION BY {kind}, {item} ORDER BY number) AS valid_to,
  min({run_id}) AS first_run_id, max({run_id}) AS last_run_id, count(*) AS runs
FROM numbered GROUP BY {kind}, {item}, {verdict}, number`,
  },
} satisfies Readonly<Record<string, ViewKind>>;

/**
 * The views that make sense for a table's mode, and whose columns it has. A table that keeps one run has
 * no past, and one with a row per item needs no view of the newest rows.
 */
export function viewsOf(
  dialect: SchemaDialect,
  table: TableName,
  { prefix, key, mode, columns }: ViewedTable,
) {
  const names = new Set(columns.map(({ name }) => name));
  const isPerItem = mode === "merge" && key.join() === `${prefix}kind,${prefix}item`;
  return (["newest", "changes", "history"] as const)
    .filter((name) => (name === "newest" ? !isPerItem : mode === "append"))
    .filter((name) => kinds[name].needs.every((plain) => names.has(prefix + plain)))
    .map((name) => {
      const { about, select } = kinds[name];
      const view = { ...table, name: `${table.name}_${name}` };
      const tables: Readonly<Record<string, TableName>> = { TABLE: table, RUNS: runsTable(table) };
      const query = select(dialect).replaceAll(/\{(\w+)\}/g, (_, plain: string) => {
        const named = tables[plain];
        return named === undefined ? dialect.quote(prefix + plain) : quoteTable(dialect, named);
      });
      const create = `CREATE VIEW ${quoteTable(dialect, view)} AS\n${query};`;
      // It has all columns of the table, those that are added later too.
      const showsAll = name === "newest";
      return { view, about, create, showsAll };
    });
}

/**
 * `worse`, `better`, `changed`, `new` or `gone`, with both values. What an answer lacks is not compared, as in
 * `repute diff`. Runs follow each other by their ids, which sort by start: an answer from the cache
 * may be older than that of an earlier run.
 */
function selectChanges({ isIn, memberOf, comparable, quote }: SchemaDialect): string {
  const lacks = (member: string): string => `coalesce(${isIn(`'${member}'`, "{missing}")}, FALSE)`;
  const ranks = verdicts.map((verdict, at) => `WHEN '${verdict}' THEN ${verdicts.length - at}`);
  const facts = [
    `CASE {verdict} ${ranks.join(" ")} END AS gravity`,
    ...Object.entries(accusing).map(([name, member]) => weightOf(name, member, lacks(member))),
    ...Object.entries(decisive).map(
      ([name, member]) => `{type} IS NOT NULL AND NOT ${lacks(member)} AS knows_${name}`,
    ),
  ];
  const value = (run: string, name: string): string =>
    name === "tags" ? comparable(`${run}.{tags}`) : `${run}.{${name}}`;
  const differs = Object.keys(decisive).map(
    (name) =>
      `later.knows_${name} AND earlier.knows_${name} AND ${value("later", name)} IS DISTINCT FROM ${value("earlier", name)}`,
  );
  const [now, before] = [gravest("later", "earlier"), gravest("earlier", "later")];
  const runId = quote("run_id");
  return `WITH answers AS (
  SELECT {kind}, {item}, ${compared.map((name) => `{${name}}`).join(", ")},
    ${facts.join(",\n    ")},
    row_number() OVER (PARTITION BY {kind}, {item}, {run_id}
      ORDER BY {verdict} IS NULL, {looked_up_at} DESC NULLS LAST, {row} DESC) AS newest
  FROM {TABLE}
  WHERE {item} IS NOT NULL
), present AS (
  SELECT * FROM answers WHERE newest = 1
), runs AS (
  SELECT ${runId}, lag(${runId}) OVER (ORDER BY ${runId}) AS since
  FROM {RUNS} WHERE ${quote("exit_reason")} IN ('done', 'rows_failed')
    AND ${memberOf(quote("manifest"), "sampled")} IS NULL
), steps AS (
  SELECT *, row_number() OVER (PARTITION BY {kind}, {item} ORDER BY {run_id}) AS step
  FROM present WHERE {verdict} IS NOT NULL
), changes AS (
  SELECT CASE WHEN later.gravity > earlier.gravity AND ${now} > ${before} THEN 'worse'
    WHEN later.gravity < earlier.gravity AND ${now} < ${before} THEN 'better'
    WHEN ${differs.join("\n      OR ")} THEN 'changed' END AS {change},
    ${bothValues("later", "later.{run_id}", "earlier.{run_id}")}
  FROM steps AS later JOIN steps AS earlier ON ${sameItem} AND later.step = earlier.step + 1
)
SELECT * FROM changes WHERE {change} IS NOT NULL
UNION ALL
SELECT 'new', ${bothValues("later", `runs.${runId}`, "runs.since")}
FROM present AS later JOIN runs ON later.{run_id} = runs.${runId} AND runs.since IS NOT NULL
  LEFT JOIN present AS earlier ON ${sameItem} AND earlier.{run_id} = runs.since
WHERE earlier.{item} IS NULL
UNION ALL
SELECT 'gone', ${bothValues("earlier", `runs.${runId}`, "runs.since")}
FROM present AS earlier JOIN runs ON earlier.{run_id} = runs.since
  LEFT JOIN present AS later ON ${sameItem} AND later.{run_id} = runs.${runId}
WHERE later.{item} IS NULL`;
}

/** The greatest weight in a run, among the columns that the other run knows too. */
function gravest(run: string, other: string): string {
  const shared = Object.keys(accusing).map(
    (name) =>
      `CASE WHEN ${other}.${name}_weight IS NULL THEN 0 ELSE coalesce(${run}.${name}_weight, 0) END`,
  );
  return `greatest(${shared.join(", ")})`;
}

const sameItem = "later.{kind} = earlier.{kind} AND later.{item} = earlier.{item}";

/**
 * Columns of a change.
 *
 * @param run the one of `later` and `earlier` that has the item
 */
function bothValues(run: string, laterId: string, earlierId: string): string {
  return [
    `${run}.{kind}, ${run}.{item}, ${laterId} AS {run_id}`,
    ...others.map((name) => `later.{${name}}`),
    `${earlierId} AS {earlier_run_id}`,
    ...others.map((name) => `earlier.{${name}} AS {earlier_${name}}`),
  ].join(", ");
}

/**
 * The weight of a column against the item. NULL where a lookup failed, or its answer lacks the member or has an
 * undocumented word.
 */
function weightOf(name: string, member: string, lacks: string): string {
  const lost = "{status} IN ('failed', 'invalid')";
  const unknown = name.startsWith("quick_")
    ? `{${name}} IS NULL AND (${lost} OR ${lacks})`
    : `${lacks} OR (${lost} AND {type} IS NULL)`;
  const words = member === "intent" ? intents : blocklistStatuses;
  const known = words.map((word) => `WHEN '${word}' THEN ${weights[word] ?? 0}`);
  return `CASE WHEN ${unknown} THEN NULL ELSE CASE coalesce({${name}}, '') WHEN '' THEN 0 ${known.join(" ")} END END AS ${name}_weight`;
}
