import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { countedVerdicts, type Verdict, verdicts } from "../../core/finding.js";
import { FatalError, ReputeError } from "../../core/errors.js";
import type { OutputRecord } from "../../io/formats/types.js";
import { type Database, openDatabase, storeFault } from "../../client/store/database.js";
import { zeros } from "../../core/row.js";
import { decisiveMembers, isOtherWord } from "../../core/verdict.js";

/** How an item differs between two outputs, worst first. */
export const changeKinds = ["worse", "new", "changed", "better", "gone"] as const;

type ChangeKind = (typeof changeKinds)[number];

export interface Change {
  readonly change: ChangeKind;
  readonly kind: string;
  readonly item: string;
  /** Which of `verdict`, `tags`, `network` and `contact` differ; empty for `new` and `gone`. */
  readonly what: readonly string[];
  readonly earlier: Observation | null;
  readonly later: Observation | null;
}

export interface DiffCounts extends Readonly<Record<ChangeKind, number>> {
  readonly same: number;
  /** Items of both outputs without a verdict in at least one. */
  readonly unanswered: number;
  /** New items by verdict; `unknown` for those without an answer. */
  readonly newVerdicts: Readonly<Record<Verdict | "unknown", number>>;
}

/** A finished comparison; its changes are read from a temporary file. */
export interface OutputDiff extends AsyncDisposable {
  readonly counts: DiffCounts;
  /** Every change, worst first: by kind of change, then by verdict, then by item. */
  readonly changes: () => Iterable<Change>;
}

type RowLists = AsyncIterable<readonly OutputRecord[]>;

/**
 * Compares two outputs item by item. The newest answer about an item counts. Both
 * sides go through a temporary SQLite file, so memory doesn't grow with the rows.
 *
 * @param folder where the temporary file goes. Default the system's
 */
export async function diffOutputs(
  earlier: RowLists,
  later: RowLists,
  folder = tmpdir(),
): Promise<OutputDiff> {
  const refused = (error: unknown): unknown => storageFault(folder, error);
  const place = await mkdtemp(join(folder, "repute-diff-")).catch((error: unknown) => {
    throw refused(error);
  });
  let database: Database | null = null;
  const dispose = async (): Promise<void> => {
    database?.close();
    await rm(place, { recursive: true, force: true });
  };
  try {
    database = await openDatabase(join(place, "diff.sqlite"), setUp);
    await load(database, "earlier", earlier);
    await load(database, "later", later);
    database.exec(createChanges);
    return {
      counts: countsIn(database),
      changes: () => changesIn(database!, refused),
      [Symbol.asyncDispose]: dispose,
    };
  } catch (error) {
    await dispose();
    throw refused(error);
  }
}

/** Explains what SQLite or the system refused; any other error is returned as it is. */
function storageFault(folder: string, error: unknown): unknown {
  if (error instanceof ReputeError || !(error instanceof Error)) return error;
  if (!("errcode" in error) && !("errno" in error)) return error;
  const message = `cannot compare with a temporary file in ${folder}: ${storeFault(error)}`;
  return new FatalError("temporary_file", message, {
    cause: error,
    hint: "free space there, or set TMPDIR to another folder",
  });
}

const weightColumns = ["w1", "w2", "w3", "w4"] as const;

/** Columns of a side that come from the newest answer. */
const answerColumns = [
  "verdict",
  ...weightColumns,
  "tags",
  "asn",
  "as_name",
  "abuse_email",
  "looked_up_at",
];

/** Nothing in the file outlives the comparison, so nothing needs a journal or a sync. */
function setUp(database: Database): void {
  database.exec(
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -32000; PRAGMA locking_mode = EXCLUSIVE",
  );
  for (const side of ["earlier", "later"]) {
    database.exec(
      `CREATE TABLE ${side} (kind TEXT, item TEXT, ${answerColumns.join(", ")},
         PRIMARY KEY (kind, item)) WITHOUT ROWID`,
    );
  }
}

async function load(database: Database, side: "earlier" | "later", lists: RowLists): Promise<void> {
  const insert = database.prepare(
    `INSERT INTO ${side} (kind, item, ${answerColumns.join(", ")})
     VALUES (?, ?${", ?".repeat(answerColumns.length)})
     ON CONFLICT (kind, item) DO UPDATE
     SET ${answerColumns.map((name) => `${name} = excluded.${name}`).join(", ")}
     WHERE excluded.verdict IS NOT NULL
       AND (verdict IS NULL OR excluded.looked_up_at > looked_up_at)`,
  );
  database.exec("BEGIN");
  for await (const rows of lists) {
    for (const row of rows) {
      const item = row.text("item");
      if (item === "") continue;
      const { verdict, tags, asn, asName, abuseEmail } = observationOf(row);
      const answer = [verdict, ...weightsOf(row), tags, asn, asName, abuseEmail];
      insert.run(row.text("kind"), item, ...answer, row.text("looked_up_at"));
    }
  }
  database.exec("COMMIT");
}

/** How grave a verdict is, as SQL. */
function gravity(verdict: string): string {
  return `CASE ${verdict} WHEN 'malicious' THEN 3 WHEN 'suspicious' THEN 2 WHEN 'listed' THEN 1 ELSE 0 END`;
}

/** A comparison with NULL is never true, so what one side lacks makes no difference. */
const createChanges = `
  CREATE TABLE differences AS
  SELECT coalesce(l.kind, e.kind) AS kind, coalesce(l.item, e.item) AS item,
    e.item IS NOT NULL AS was, l.item IS NOT NULL AS is_there,
    e.verdict AS e_verdict, e.tags AS e_tags, e.asn AS e_asn, e.as_name AS e_as_name,
    e.abuse_email AS e_abuse_email,
    l.verdict AS l_verdict, l.tags AS l_tags, l.asn AS l_asn, l.as_name AS l_as_name,
    l.abuse_email AS l_abuse_email,
    CASE
      WHEN e.item IS NULL THEN 'new'
      WHEN l.item IS NULL THEN 'gone'
      WHEN e.verdict IS NULL OR l.verdict IS NULL THEN 'unanswered'
      WHEN ${gravity("l.verdict")} > ${gravity("e.verdict")} AND ${shared("l")} > ${shared("e")} THEN 'worse'
      WHEN ${gravity("l.verdict")} < ${gravity("e.verdict")} AND ${shared("l")} < ${shared("e")} THEN 'better'
      WHEN e.tags <> l.tags OR e.asn <> l.asn OR e.abuse_email <> l.abuse_email THEN 'changed'
      ELSE 'same'
    END AS change
  FROM earlier e FULL OUTER JOIN later l ON e.kind = l.kind AND e.item = l.item`;

function countsIn(database: Database): DiffCounts {
  const counted = <Name extends string>(names: readonly Name[], column: string, where = "true") => {
    const counts = zeros(names);
    const query = `SELECT ${column} AS name, count(*) AS n FROM differences WHERE ${where} GROUP BY 1`;
    for (const found of database.prepare(query).all()) {
      const { name, n } = found as { readonly name: Name; readonly n: number };
      counts[name] = n;
    }
    return counts;
  };
  return {
    ...counted([...changeKinds, "same", "unanswered"], "change"),
    newVerdicts: counted(countedVerdicts, "coalesce(l_verdict, 'unknown')", "change = 'new'"),
  };
}

const order = `CASE change ${changeKinds.map((name, index) => `WHEN '${name}' THEN ${index}`).join(" ")} END`;

function* changesIn(database: Database, refused: (error: unknown) => unknown): Generator<Change> {
  const sorted = database.prepare(
    `SELECT * FROM differences WHERE change NOT IN ('same', 'unanswered')
     ORDER BY ${order}, max(${gravity("l_verdict")}, ${gravity("e_verdict")}) DESC,
       ${gravity("l_verdict")} DESC, kind, item`,
  );
  try {
    for (const found of sorted.iterate()) yield changeOf(found as DifferenceRow);
  } catch (error) {
    throw refused(error);
  }
}

type Side = "e" | "l";
type DifferenceRow = Readonly<
  Record<`${Side}_verdict`, Verdict | null> &
    Record<`${Side}_${"tags" | "asn" | "as_name" | "abuse_email"}`, string | null> &
    Record<"was" | "is_there", number> & { kind: string; item: string; change: ChangeKind }
>;

function changeOf(row: DifferenceRow): Change {
  const earlier = row.was === 0 ? null : sideOf(row, "e");
  const later = row.is_there === 0 ? null : sideOf(row, "l");
  const { change, kind, item } = row;
  const what = earlier === null || later === null ? [] : differencesIn(change, earlier, later);
  return { change, kind, item, what, earlier, later };
}

function sideOf(row: DifferenceRow, side: Side): Observation {
  return {
    verdict: row[`${side}_verdict`],
    tags: row[`${side}_tags`],
    asn: row[`${side}_asn`],
    asName: row[`${side}_as_name`],
    abuseEmail: row[`${side}_abuse_email`],
  };
}

function differencesIn(
  change: ChangeKind,
  earlier: Observation,
  later: Observation,
): readonly string[] {
  const differs = (member: "tags" | "asn" | "abuseEmail"): boolean =>
    earlier[member] !== null && later[member] !== null && earlier[member] !== later[member];
  return [
    ...(change === "changed" ? [] : ["verdict"]),
    ...(differs("tags") ? ["tags"] : []),
    ...(differs("asn") ? ["network"] : []),
    ...(differs("abuseEmail") ? ["contact"] : []),
  ];
}

export interface Observation {
  readonly verdict: Verdict | null;
  /** Tags joined with `|`, sorted. Null, like the others, if no answer has this member. */
  readonly tags: string | null;
  /** Autonomous system, e.g. `AS64496`; "" for none. */
  readonly asn: string | null;
  readonly asName: string | null;
  readonly abuseEmail: string | null;
}

export const comparedColumns = [
  "kind",
  "item",
  "status",
  "verdict",
  "missing",
  "type",
  "intent",
  "mail_blocklist",
  "quick_intent",
  "quick_mail_blocklist",
  "tags",
  "asn",
  "as_name",
  "abuse_email",
  "looked_up_at",
] as const;

type Columns = Pick<OutputRecord, "text" | "list">;

function observationOf(row: Columns): Observation {
  const verdict = row.text("verdict");
  const missing = row.text("type") === "" ? null : row.list("missing");
  const isKnown = (member: string): boolean => missing?.includes(member) === false;
  return {
    verdict: verdicts.find((known) => known === verdict) ?? null,
    tags: isKnown("tags") ? [...row.list("tags")].sort().join("|") : null,
    asn: isKnown("asn") ? row.text("asn") : null,
    asName: isKnown("asn") ? row.text("as_name") : null,
    abuseEmail: isKnown("abuseContact") ? row.text("abuse_email") : null,
  };
}

/**
 * How grave each decisive member is, of the query and of the quick check. Null where a lookup failed or
 * its answer lacks the member or has an undocumented word; 0 where the lookup was not asked.
 */
function weightsOf(row: Columns): readonly (number | null)[] {
  const status = row.text("status");
  const isLost = status === "failed" || status === "invalid";
  const missing = row.list("missing");
  return decisiveMembers.flatMap((member) => {
    const isMissing = missing.includes(member);
    const [query, quick] = [row.text(columnOf[member]), row.text(`quick_${columnOf[member]}`)];
    const weightOf = (word: string): number | null =>
      word !== "" && isOtherWord(member, word) ? null : (weights.get(word) ?? 0);
    return [
      isMissing || (isLost && row.text("type") === "") ? null : weightOf(query),
      quick === "" && (isLost || isMissing) ? null : weightOf(quick),
    ];
  });
}

/** The gravest that a side says with the members that both sides know, as SQL. */
function shared(side: "e" | "l"): string {
  const other = side === "e" ? "l" : "e";
  // NULL where either side lacks the member.
  const weights = weightColumns.map(
    (name) => `coalesce(${side}.${name} + 0 * ${other}.${name}, 0)`,
  );
  return `max(${weights.join(", ")})`;
}

const columnOf = { intent: "intent", serviceMailBlocklist: "mail_blocklist" } as const;

const weights: ReadonlyMap<string, number> = new Map([
  ["malicious", 3],
  ["suspicious", 2],
  ["ACTIVE", 1],
]);
