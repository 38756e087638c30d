import { describe, expect, it } from "vitest";
import { schemaText } from "../../../../src/jobs/schema/schema-text.js";

/** An empty database, and how a test asks it without repute. */
export interface ViewPlace {
  readonly name: "duckdb" | "postgres";
  /** Opens a database with these statements run. */
  readonly open: (statements: string) => Promise<Ask>;
}

/** Runs a query. Its values are texts. */
type Ask = (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;

type Night = 1 | 2 | 3;

/** A row of a night; without a verdict, its lookup failed. */
type NightRow = readonly [
  night: Night,
  item: string | null,
  verdict: string | null,
  own?: { readonly lookedUp?: number; readonly loaded?: number; readonly intent?: string },
];

const runId = (night: number): string => `01990000-000${night}-7000-8000-000000000000`;

/** Seconds of a time on a day of January. */
const at = (day: number, hour: number): number => Date.UTC(2026, 0, day, hour) / 1_000;

const loadedOn = (day: number): string => String(at(day, 3));

const rows: readonly NightRow[] = [
  [1, "back-and-forth.example", "none"],
  [2, "back-and-forth.example", "malicious"],
  [3, "back-and-forth.example", "none"],
  [1, "held.example", "suspicious"],
  [1, "held.example", "suspicious"],
  [2, "held.example", "suspicious"],
  [3, "held.example", "suspicious"],
  [1, "failed.example", "malicious"],
  [2, "failed.example", null],
  [3, "failed.example", "malicious"],
  [1, "gone.example", "listed"],
  [3, "gone.example", "listed"],
  // The second night's answer is older than the first night's: it is from a shared cache.
  [1, "cached.example", "none"],
  [2, "cached.example", "malicious", { lookedUp: at(1, 1) }],
  [3, "cached.example", "malicious", { lookedUp: at(1, 1) }],
  [1, "known-later.example", null],
  [2, "known-later.example", "listed"],
  [1, "never-known.example", null],
  [2, "never-known.example", null],
  // The second night was resumed and published after the third.
  [1, "late.example", "none"],
  [2, "late.example", "listed", { loaded: at(4, 3) }],
  [3, "late.example", "suspicious"],
  // The last night asked in vain.
  [1, "lost.example", "malicious"],
  [3, "lost.example", null, { lookedUp: at(3, 2) }],
  // The interface doesn't document this intent.
  [1, "word.example", "malicious"],
  [2, "word.example", "listed", { intent: "critical" }],
  [1, null, null],
  [2, null, null],
];

const columns =
  "run_id row loaded_at kind item verdict status type missing intent mail_blocklist looked_up_at tags"
    .split(" ")
    .map((name) => `rep_${name}`);

function insert(table: string): string {
  const time = (seconds: number): string => `'${new Date(seconds * 1_000).toISOString()}'`;
  const none = "ARRAY[]::varchar[]";
  const values = rows.map(([night, item, verdict, { lookedUp, loaded, intent } = {}], index) => {
    const isKnown = verdict !== null;
    const answer = isKnown
      ? `'${intent ?? (verdict === "listed" ? "none" : verdict)}', '${verdict === "listed" ? "ACTIVE" : "NOT_LISTED"}', ${time(lookedUp ?? at(night, 2))}`
      : `NULL, NULL, ${lookedUp === undefined ? "NULL" : time(lookedUp)}`;
    const status =
      item === null ? "'unsupported', NULL" : isKnown ? "'complete', 'DOMAIN'" : "'failed', NULL";
    const named = item === null ? "NULL, NULL" : `'domain', '${item}'`;
    return `('${runId(night)}', ${index + 1}, ${time(loaded ?? at(night, 3))}, ${named}, ${isKnown ? `'${verdict}'` : "NULL"}, ${status}, ${none}, ${answer}, ${none})`;
  });
  const runs = [1, 2, 3].map((night) => `('${runId(night)}', 'done')`);
  return `INSERT INTO ${table} (${columns.join(", ")}) VALUES ${values.join(",\n")};
    INSERT INTO ${table}_runs (run_id, exit_reason) VALUES ${runs.join(", ")}, ('${runId(1)}9', 'quota');
    INSERT INTO ${table}_runs (run_id, exit_reason, manifest) VALUES ('${runId(2)}9', 'done', '{"sampled":10}');`;
}

const history: readonly (readonly (string | null)[])[] = [
  ["back-and-forth.example", "none", loadedOn(1), loadedOn(2), "1", "1", "1"],
  ["back-and-forth.example", "malicious", loadedOn(2), loadedOn(3), "2", "2", "1"],
  ["back-and-forth.example", "none", loadedOn(3), null, "3", "3", "1"],
  ["cached.example", "none", loadedOn(1), loadedOn(2), "1", "1", "1"],
  ["cached.example", "malicious", loadedOn(2), null, "2", "3", "2"],
  ["failed.example", "malicious", loadedOn(1), null, "1", "3", "2"],
  ["gone.example", "listed", loadedOn(1), null, "1", "3", "2"],
  ["held.example", "suspicious", loadedOn(1), null, "1", "3", "3"],
  ["known-later.example", "listed", loadedOn(2), null, "2", "2", "1"],
  ["late.example", "none", loadedOn(1), loadedOn(4), "1", "1", "1"],
  ["late.example", "listed", loadedOn(4), loadedOn(4), "2", "2", "1"],
  ["late.example", "suspicious", loadedOn(4), null, "3", "3", "1"],
  ["lost.example", "malicious", loadedOn(1), null, "1", "1", "1"],
  ["word.example", "malicious", loadedOn(1), loadedOn(2), "1", "1", "1"],
  ["word.example", "listed", loadedOn(2), null, "2", "2", "1"],
];

const changes: readonly (readonly (string | null)[])[] = [
  ["worse", "back-and-forth.example", "none", "malicious", "1", "2"],
  ["better", "back-and-forth.example", "malicious", "none", "2", "3"],
  ["worse", "cached.example", "none", "malicious", "1", "2"],
  ["gone", "gone.example", "listed", null, "1", "2"],
  ["new", "gone.example", null, "listed", "2", "3"],
  ["gone", "known-later.example", "listed", null, "2", "3"],
  ["worse", "late.example", "none", "listed", "1", "2"],
  ["worse", "late.example", "listed", "suspicious", "2", "3"],
  ["gone", "lost.example", "malicious", null, "1", "2"],
  ["new", "lost.example", null, null, "2", "3"],
  ["gone", "never-known.example", null, null, "2", "3"],
  ["gone", "word.example", "listed", null, "2", "3"],
];

/** The views that `repute schema` prints, over three nights. */
export function describeTableViews({ name, open }: ViewPlace): void {
  const statements = (table: string): string =>
    schemaText(name, { columns: [], prefix: "rep_", table }) + insert(table);
  const texts = async (ask: Ask, sql: string) =>
    (await ask(sql)).map((row) => Object.values(row).map((value) => shortId(value)));

  describe(`the views of a table in ${name}`, () => {
    it("show how long each verdict held", async () => {
      const ask = await open(statements("kept"));
      const found = await texts(
        ask,
        `SELECT rep_item, rep_verdict, ${seconds("valid_from")}, ${seconds("valid_to")},
           first_run_id, last_run_id, CAST(runs AS varchar) AS runs
         FROM kept_history ORDER BY rep_kind, rep_item, first_run_id`,
      );
      expect(found).toEqual(history);
    });

    it("show what changed from run to run", async () => {
      const ask = await open(statements("compared"));
      const found = await texts(
        ask,
        `SELECT rep_change, rep_item, rep_earlier_verdict, rep_verdict, rep_earlier_run_id, rep_run_id
         FROM compared_changes ORDER BY rep_item, rep_run_id`,
      );
      expect(found).toEqual(changes);
    });

    it("show the newest row of each item", async () => {
      const ask = await open(statements("latest"));
      const found = await texts(
        ask,
        "SELECT rep_item, rep_verdict, rep_run_id FROM latest_newest ORDER BY rep_item",
      );
      expect(found).toEqual([
        ["back-and-forth.example", "none", "3"],
        ["cached.example", "none", "1"],
        ["failed.example", "malicious", "3"],
        ["gone.example", "listed", "3"],
        ["held.example", "suspicious", "3"],
        ["known-later.example", "listed", "2"],
        ["late.example", "suspicious", "3"],
        ["lost.example", "malicious", "1"],
        ["never-known.example", null, "2"],
        ["word.example", "listed", "2"],
      ]);
    });
  });
}

/** A time as text, the same in every database. */
function seconds(column: string): string {
  return `CAST(CAST(extract(epoch FROM ${column}) AS bigint) AS varchar) AS ${column}`;
}

/** The night of a run id; any other value as it is. */
function shortId(value: unknown): unknown {
  return [1, 2, 3].map(String).find((night) => runId(Number(night)) === value) ?? value;
}
