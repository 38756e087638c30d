import { inspect } from "node:util";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { EnrichedRow } from "../../../../src/core/row.js";
import type { PublisherOptions } from "../../../../src/io/output/publisher.js";
import { schemaText } from "../../../../src/jobs/schema/schema-text.js";
import {
  describePublication,
  describeTypedColumns,
  type PublicationPlace,
} from "../publication/publication.js";
import { describeExistingTables } from "../tables/existing-tables.js";
import { describeTableModes, type TablePlace } from "../tables/table-modes.js";
import { describeTableViews } from "../tables/table-views.js";
import { checkOutput, publishRows, refusalOf, someRows } from "../publication/publishing.js";
import { anEnrichedRow } from "../../../helpers/enriched-rows.js";
import { PostgresCluster, type UrlOptions } from "../../../helpers/postgres-cluster.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

let cluster: PostgresCluster;

/** Existing schemas for tests that need their own. */
const schemas = 100;

beforeAll(async () => {
  cluster = await PostgresCluster.start();
  const names = Array.from({ length: schemas }, (_, index) => `place_${index}`);
  await cluster.query(names.map((name) => `CREATE SCHEMA ${name};`).join(" "));
  await cluster.query(`CREATE ROLE reader LOGIN PASSWORD 'only reads'`);
});

afterAll(() => cluster.stop());

const places = new Map<string, string>();

/** One schema per folder. */
function placeOf(folder: string): string {
  const known = places.get(folder);
  if (known !== undefined) return known;
  const place = `place_${places.size}`;
  places.set(folder, place);
  return place;
}

const contract: PublicationPlace = {
  name: "postgres",
  maxNameLength: 63,
  output: (folder) => cluster.url({ parameters: { table: `${placeOf(folder)}.enriched` } }),
  read: async (folder) => {
    const table = `${placeOf(folder)}.enriched`;
    const [found] = await cluster.query("SELECT to_regclass($1) AS table", [table]);
    if (found?.["table"] === null) return [];
    const rows = await cluster.query(`SELECT * FROM ${table} ORDER BY rep_run_id, rep_row`);
    return rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(name, value)])),
    );
  },
  appends: true,
};

describePublication(contract);
describeTypedColumns(contract);
const place: TablePlace = {
  name: "postgres",
  output: contract.output,
  sql: (folder, text) => cluster.query(text(`${placeOf(folder)}.enriched`)),
};

describeTableModes(place);
describeExistingTables(place);
describeTableViews({
  name: "postgres",
  open: async (statements) => {
    await cluster.query(statements);
    return (sql) => cluster.query(sql);
  },
});

/** Counts are returned as text, times as dates. */
function plain(name: string, value: unknown): unknown {
  if (value instanceof Date) return BigInt(value.getTime()) * 1000n;
  const counts = /^rep_(?:row|attempts|http_status|\w+_observations)$/;
  return counts.test(name) && typeof value === "string" ? BigInt(value) : value;
}

it("rejects an input column whose name the server would truncate", async () => {
  await expect(open("cut", { columns: ["ip", "n".repeat(64)] })).rejects.toMatchObject({
    code: "name_too_long",
  });
  expect(await cluster.query("SELECT to_regclass('cut') AS found")).toEqual([{ found: null }]);
});

describe("the table", () => {
  it("has the views that repute schema prints", async () => {
    const viewsOf = (name: string) =>
      cluster.query(
        `SELECT replace(viewname, $1, '') AS name, replace(definition, $1, '') AS definition
         FROM pg_views WHERE viewname LIKE $1 || '%' ORDER BY viewname`,
        [name],
      );
    await publish("made", [anEnrichedRow()]);
    const options = { columns: ["ip"], prefix: "rep_", table: "printed" };
    await cluster.query(schemaText("postgres", options));
    const views = await viewsOf("made");
    expect(views.map(({ name }) => String(name))).toEqual(["_changes", "_history", "_newest"]);
    expect(await viewsOf("printed")).toEqual(views);
  });

  it("is found in the search path", async () => {
    await cluster.query("CREATE SCHEMA far");
    await publish("far.found");
    const url = cluster.url({ parameters: { table: "found", options: "-c search_path=far" } });
    await publishRows(url, await temporaryFolder(), [anEnrichedRow()], { runId: "second" });
    expect(await cluster.query("SELECT rep_run_id FROM far.found")).toEqual([
      { rep_run_id: "second" },
    ]);
  });

  it("is not created without permission", async () => {
    const url = cluster.url({
      user: "reader",
      password: "only reads",
      parameters: { table: "forbidden" },
    });
    expect(await refusalOf(checkOutput(url))).toMatchObject({ code: "database_denied" });
  });

  it("is filled by several runs at once, also if all of them create it", async () => {
    const runs = ["a", "b", "c", "d"];
    await Promise.all(runs.map((runId) => publish("shared", someRows(1, 500), { runId })));
    const counts = await cluster.query(
      "SELECT rep_run_id AS run, count(*) AS n FROM shared GROUP BY 1 ORDER BY 1",
    );
    expect(counts).toEqual(runs.map((run) => ({ run, n: "500" })));
  });
});

describe("the check before the first row", () => {
  it("leaves no table behind", async () => {
    await open("untouched");
    const found = "SELECT to_regclass('untouched') AS t, to_regclass('untouched_newest') AS v";
    expect(await cluster.query(found)).toEqual([{ t: null, v: null }]);
  });

  it.each([
    ["append", "", "SELECT ON T"],
    ["append", "", "INSERT ON T"],
    ["append", "", "UPDATE ON T_runs"],
    ["append", "", "TEMPORARY ON DATABASE postgres"],
    ["merge", ", UPDATE", "UPDATE ON T"],
    ["replace", ", DELETE", "DELETE ON T"],
  ] as const)("finds that --mode %s lacks a right: %s %s", async (mode, more, right) => {
    const table = `asked_to_${mode}`;
    await publish(table, [], { mode });
    await cluster.query(`DO $$ BEGIN CREATE ROLE loader LOGIN PASSWORD 'only loads';
      EXCEPTION WHEN duplicate_object THEN NULL; END $$;
      GRANT SELECT, INSERT${more} ON ${table} TO loader;
      GRANT SELECT, INSERT, UPDATE ON ${table}_runs TO loader;
      GRANT TEMPORARY ON DATABASE postgres TO PUBLIC`);
    const url = cluster.url({ user: "loader", password: "only loads", parameters: { table } });
    await checkOutput(url, { mode });
    await cluster.query(`REVOKE ${right.replace("ON T", `ON ${table}`)} FROM loader, PUBLIC`);
    expect(await refusalOf(checkOutput(url, { mode }))).toMatchObject({ code: "database_denied" });
  });

  it("does not wait for a run that is being published to another table", async () => {
    await publish("idle");
    const client = cluster.client();
    await client.connect();
    await client.query("BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('repute tables', 0))");
    expect(await open("idle")).toMatchObject({ holds: null });
    await client.end();
  });
});

describe("the login", () => {
  it("uses the application name repute", async () => {
    await cluster.query("CREATE TABLE names (name text)");
    await publish("named");
    await cluster.query(`CREATE FUNCTION tell_name() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO names VALUES (current_setting('application_name')); RETURN NEW; END $$;
      CREATE TRIGGER tell BEFORE INSERT ON named FOR EACH ROW EXECUTE FUNCTION tell_name()`);
    await publish("named", [anEnrichedRow()]);
    expect(await cluster.query("SELECT name FROM names")).toEqual([{ name: "repute" }]);
  });

  it.each(["PGPASSWORD", "~/.pgpass"])("reads the password from %s", async (place) => {
    const home = await temporaryFolder();
    const escaped = cluster.password.replaceAll(/[\\:]/g, "\\$&");
    const lines = `# passwords\nelsewhere:*:*:*:wrong\n127.0.0.1:${cluster.port}:*:postgres:${escaped}\n`;
    await writeFile(join(home, ".pgpass"), lines, { mode: 0o600 });
    if (place === "PGPASSWORD") vi.stubEnv("PGPASSWORD", cluster.password);
    else vi.stubEnv("HOME", home);
    const done = login({ password: null }).finally(() => vi.unstubAllEnvs());
    await expect(done).resolves.toBeUndefined();
  });

  it.each<[what: string, code: string, trial: () => Promise<unknown>]>([
    ["that a password is required", "database_login", () => login({ password: null })],
    ["a wrong password", "database_login", () => login({ password: "s3cret-and-wrong" })],
    ["a missing database", "database_missing", () => login({ database: "absent" })],
    ["a server without TLS", "database_tls", () => login({ parameters: { sslmode: "require" } })],
    [
      "a missing server",
      "database_unreachable",
      () => checkOutput("postgres://postgres:s3cret@127.0.0.1:1/postgres?table=enriched"),
    ],
  ])("reports %s, and never shows it", async (_, code, trial) => {
    vi.stubEnv("PGPASSFILE", "/nonexistent");
    const refusal = await refusalOf(trial()).finally(() => vi.unstubAllEnvs());
    expect(refusal).toMatchObject({ code });
    expect(inspect(refusal, { depth: 20, showHidden: true })).not.toContain("s3cret");
  });

  async function login(options: UrlOptions): Promise<void> {
    const parameters = { table: "logins", ...options.parameters };
    await checkOutput(cluster.url({ ...options, parameters }));
  }
});

const at = (table: string): string => cluster.url({ parameters: { table } });

const open = (table: string, options: Partial<PublisherOptions> = {}) =>
  checkOutput(at(table), options);

const publish = async (
  table: string,
  rows: readonly EnrichedRow[] = [],
  options: Partial<PublisherOptions> = {},
) => publishRows(at(table), await temporaryFolder(), rows, options);
