import { decisiveColumns, decisiveMembers, isOtherWord } from "../../core/verdict.js";
import { reportedColumns } from "../../core/columns.js";
import { countedVerdicts, verdicts } from "../../core/finding.js";
import { FatalError } from "../../core/errors.js";
import { abortable } from "../../core/abort.js";
import type { Output } from "../../io/output/output.js";
import { readOutput } from "../../io/output/read.js";
import type { OutputRecord } from "../../io/formats/types.js";
import { DatabaseSync } from "@photostructure/sqlite";
import { explainFault, type SqliteFile } from "../../client/store/sqlite-file.js";
import { zeros } from "../../core/row.js";

/** How an item differs between two outputs, worst first. */
export const changeKinds = ["worse", "new", "changed", "better", "gone"] as const;

type ChangeKind = (typeof changeKinds)[number];

export interface Change {
  readonly change: ChangeKind;
  readonly kind: string;
  readonly item: string;
  /** Which of `verdict`, `tags`, `network` and `contact` differ; empty for `new` and `gone`. */
  readonly what: readonly string[];
  /** Null for the side that lacks the item. */
  readonly earlier: Observation | null;
  readonly later: Observation | null;
}

/** What an output says about an item. */
type Observation = Omit<Side, "weights">;

/** A finished comparison; its changes are read from a temporary file. */
export type OutputDiff = Awaited<ReturnType<typeof diffOutputs>>;

export type DiffCounts = ReturnType<typeof noCounts>;

function noCounts() {
  return {
    /** `unanswered`: items of both outputs without a verdict in at least one. */
    ...zeros([...changeKinds, "same", "unanswered"]),
    /** New items by verdict; `unknown` for those without an answer. */
    newVerdicts: zeros(countedVerdicts),
  };
}

interface Comparing {
  /** Prefix of the added columns. @default the one in each manifest */
  readonly prefix?: string | undefined;
  readonly stateDir?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Compares two outputs. */
export async function compareOutputs(
  earlier: Output,
  later: Output,
  { prefix, stateDir, signal }: Comparing,
): Promise<OutputDiff> {
  const rowsOf = async (output: Output) =>
    abortable((await readOutput(output, prefix, comparedColumns, stateDir)).records, signal);
  return diffOutputs(await rowsOf(earlier), await rowsOf(later));
}

type RowLists = AsyncIterable<readonly OutputRecord[]>;

/**
 * Compares two outputs item by item. The newest answer about an item counts. Both
 * sides go through a temporary SQLite file, so memory doesn't grow with the rows.
 *
 * @throws FatalError `temporary_file`
 */
export async function diffOutputs(earlier: RowLists, later: RowLists) {
  // A database without a name is in a file that SQLite deletes as soon as it is open.
  const database = new DatabaseSync("");
  try {
    setUp(database);
    await load(database, "earlier", earlier);
    await load(database, "later", later);
    const changes = () => changesIn(database);
    return {
      counts: compareSides(database),
      /** Every change, worst first: by kind of change, then by verdict, then by item. */
      changes,
      /** The first of them. */
      worst(this: void, most: number): readonly Change[] {
        const first: Change[] = [];
        for (const change of changes()) if (first.push(change) >= most) break;
        return first;
      },
      [Symbol.asyncDispose]: async () => database.close(),
    };
  } catch (error) {
    database.close();
    throw storageFault(error);
  }
}

/** Explains what SQLite refused; any other error is returned as it is. */
function storageFault(error: unknown): unknown {
  const { code, errcode } = (error ?? {}) as {
    readonly code?: unknown;
    readonly errcode?: unknown;
  };
  // What an iterator throws has no result code.
  if (errcode === undefined && code !== "ERR_SQLITE_ERROR") return error;
  const message = `cannot compare in a temporary file: ${explainFault("", error).why}`;
  return new FatalError("temporary_file", message, {
    cause: error,
    hint: "free space in the folder of temporary files, or set TMPDIR to another one",
  });
}

type Database = SqliteFile["database"];

/** Nothing in the file outlives the comparison, so nothing needs a journal or a sync. */
function setUp(database: Database): void {
  const side = "(kind, item, verdict, looked_up_at, side, PRIMARY KEY (kind, item)) WITHOUT ROWID";
  database.exec(`
    PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
    PRAGMA cache_size = -32000;
    CREATE TABLE earlier ${side};
    CREATE TABLE later ${side};
    CREATE TABLE changes (rank, gravest, gravity, kind, item, change)`);
}

async function load(database: Database, table: "earlier" | "later", lists: RowLists) {
  const insert = database.prepare(
    `INSERT INTO ${table} VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE
     SET verdict = excluded.verdict, looked_up_at = excluded.looked_up_at, side = excluded.side
     WHERE excluded.verdict IS NOT NULL
       AND (verdict IS NULL OR excluded.looked_up_at > looked_up_at)`,
  );
  database.exec("BEGIN");
  for await (const rows of lists) {
    for (const row of rows) {
      const item = row.text("item");
      if (item === "") continue;
      const side = sideOf(row);
      const found = [side.verdict, row.text("looked_up_at"), JSON.stringify(side)];
      insert.run(row.text("kind"), item, ...found);
    }
  }
  database.exec("COMMIT");
}

/** Stores the items that changed, and counts all items. */
function compareSides(database: Database): DiffCounts {
  const counts = noCounts();
  const items = database.prepare(
    `SELECT coalesce(l.kind, e.kind) AS kind, coalesce(l.item, e.item) AS item,
       coalesce(e.side, 'null') AS earlier, coalesce(l.side, 'null') AS later
     FROM earlier e FULL OUTER JOIN later l ON e.kind = l.kind AND e.item = l.item`,
  );
  const insert = database.prepare("INSERT INTO changes VALUES (?, ?, ?, ?, ?, ?)");
  database.exec("BEGIN");
  for (const found of items.iterate()) {
    const { kind, item, ...sides } = found as Record<"kind" | "item" | "earlier" | "later", string>;
    const earlier = JSON.parse(sides.earlier) as Side | null;
    const later = JSON.parse(sides.later) as Side | null;
    const { change, what } = compareItem(earlier, later);
    counts[change] += 1;
    if (change === "same" || change === "unanswered") continue;
    if (change === "new") counts.newVerdicts[later!.verdict ?? "unknown"] += 1;
    const gravity = gravityOf(later);
    const order = [changeKinds.indexOf(change), -Math.max(gravity, gravityOf(earlier)), -gravity];
    const all = { change, kind, item, what, earlier, later };
    const text = JSON.stringify(all, (name, value) => (name === "weights" ? undefined : value));
    insert.run(...order, kind, item, text);
  }
  database.exec("COMMIT");
  return counts;
}

function* changesIn(database: Database): Generator<Change> {
  const sorted = database.prepare(
    "SELECT change FROM changes ORDER BY rank, gravest, gravity, kind, item",
  );
  try {
    for (const { change } of sorted.iterate()) yield JSON.parse(String(change)) as Change;
  } catch (error) {
    throw storageFault(error);
  }
}

const comparedMembers = { tags: "tags", network: "asn", contact: "abuse_email" } as const;

/** What one side lacks makes no difference. */
function compareItem(
  earlier: Side | null,
  later: Side | null,
): Pick<Change, "what"> & { readonly change: ChangeKind | "same" | "unanswered" } {
  if (earlier === null) return { change: "new", what: [] };
  if (later === null) return { change: "gone", what: [] };
  if (earlier.verdict === null || later.verdict === null) return { change: "unanswered", what: [] };
  const what = Object.entries(comparedMembers).flatMap(([name, member]) => {
    const [before, now] = [earlier[member], later[member]];
    const differs = before !== null && now !== null && String(before) !== String(now);
    return differs ? [name] : [];
  });
  const graver = gravityOf(later) - gravityOf(earlier);
  const said = knownGravity(later, earlier) - knownGravity(earlier, later);
  if (graver !== 0 && Math.sign(graver) === Math.sign(said)) {
    return { change: graver > 0 ? "worse" : "better", what: ["verdict", ...what] };
  }
  return { change: what.length > 0 ? "changed" : "same", what };
}

function gravityOf(side: Side | null): number {
  return gravities.get(side?.verdict ?? "") ?? 0;
}

/** The gravest that a side says with the members that both sides know. */
function knownGravity({ weights }: Side, other: Side): number {
  return Math.max(...weights.map((weight, at) => (other.weights[at] === null ? 0 : (weight ?? 0))));
}

const comparedColumns = [
  ...reportedColumns,
  ...Object.values(decisiveColumns).flat(),
  ..."missing type tags asn as_name abuse_email looked_up_at".split(" "),
];

type Side = Readonly<ReturnType<typeof sideOf>>;

/** What an output says about an item, and how grave its decisive members are. */
function sideOf(row: OutputRecord) {
  const verdict = row.text("verdict");
  const missing = row.text("type") === "" ? null : row.list("missing");
  const isKnown = (member: string): boolean => missing?.includes(member) === false;
  return {
    verdict: verdicts.find((known) => known === verdict) ?? null,
    /** Sorted. Null, like the members below, if no answer has this member. */
    tags: isKnown("tags") ? row.list("tags").toSorted() : null,
    /** Autonomous system, such as `AS64496`; "" for none. */
    asn: isKnown("asn") ? row.text("asn") : null,
    as_name: isKnown("asn") ? row.text("as_name") : null,
    abuse_email: isKnown("abuseContact") ? row.text("abuse_email") : null,
    weights: weightsOf(row),
  };
}

/**
 * How grave each decisive member is, of the query and of the quick check. Null where a lookup failed or
 * its answer lacks the member or has an undocumented word; 0 where the lookup was not asked.
 */
function weightsOf(row: OutputRecord): readonly (number | null)[] {
  const status = row.text("status");
  const isLost = status === "failed" || status === "invalid";
  const missing = row.list("missing");
  return decisiveMembers.flatMap((member) => {
    const isMissing = missing.includes(member);
    const [query = "", quick = ""] = decisiveColumns[member].map((column) => row.text(column));
    const weightOf = (word: string): number | null =>
      word !== "" && isOtherWord(member, word) ? null : (gravities.get(word) ?? 0);
    return [
      isMissing || (isLost && row.text("type") === "") ? null : weightOf(query),
      quick === "" && (isLost || isMissing) ? null : weightOf(quick),
    ];
  });
}

/** How grave a verdict, an intent or a mail blocklist status is. */
const gravities: ReadonlyMap<string, number> = new Map([
  ["malicious", 3],
  ["suspicious", 2],
  ["listed", 1],
  ["ACTIVE", 1],
]);
