import { inspect } from "node:util";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { findWarehouse } from "../../src/outputs/registry.js";
import type { OpenedWarehouse, WarehouseOptions } from "../../src/outputs/warehouse/types.js";
import { describeWarehouse } from "../contract/warehouse-contract.js";
import { anEnrichedRow, fullIpResult } from "../helpers/enriched-rows.js";
import { PostgresCluster } from "../helpers/postgres-cluster.js";
import type { UrlOptions } from "../helpers/postgres-cluster.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";

let cluster: PostgresCluster;

/** Existing schemas for tests that need their own. */
const schemas = 30;

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

describeWarehouse({
  name: "postgres",
  maxNameLength: 63,
  output: (folder) => cluster.url({ parameters: { table: `${placeOf(folder)}.enriched` } }),
  read: async (folder) => {
    const rows = await cluster.query(`SELECT * FROM ${placeOf(folder)}.enriched ORDER BY rep_row`);
    return rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(name, value)])),
    );
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

it("keeps the note of a run with too many failures, which doesn't count as finished", async () => {
  const { sink } = await open("failures", { runId: "bad" });
  await sink.write([anEnrichedRow()]);
  await sink.checkpoint(() => "note");
  await sink.finish(".failed");
  const kept =
    "SELECT rep_run_id, note FROM failures JOIN repute_checkpoint ON run_id = rep_run_id";
  expect(await cluster.query(kept)).toEqual([{ rep_run_id: "bad", note: "note" }]);
});

describe("the table", () => {
  it("is created with run and row as its key", async () => {
    const { sink } = await open("keyed");
    await sink.finish();
    const [key] = await cluster.query(
      "SELECT pg_get_constraintdef(oid) AS definition FROM pg_constraint WHERE conrelid = 'keyed'::regclass AND contype = 'p'",
    );
    expect(key?.["definition"]).toBe("PRIMARY KEY (rep_run_id, rep_row)");
  });

  it("comes with a view of each item's newest row", async () => {
    for (const [runId, lookedUpAt] of [
      ["night-1", "2026-01-01T00:00:00Z"],
      ["night-2", "2026-01-02T00:00:00Z"],
    ] as const) {
      const { sink } = await open("nightly", { runId });
      await sink.write([anEnrichedRow({ number: 1 }, { lookedUpAt })]);
      await sink.write([anEnrichedRow({ number: 2 }, { status: "unsupported" }, null)]);
      await sink.finish();
    }
    expect(await cluster.query("SELECT rep_run_id, rep_item FROM nightly_newest")).toEqual([
      { rep_run_id: "night-2", rep_item: "192.0.2.1" },
    ]);
  });

  it("is created beside another object with the view's name", async () => {
    await cluster.query("CREATE TABLE beside_newest (note text)");
    const { sink } = await open("beside");
    await sink.write([anEnrichedRow()]);
    expect(await sink.finish()).toMatchObject({ rows: 1 });
  });

  it("is found in the search path", async () => {
    await cluster.query("CREATE SCHEMA far");
    const first = await open("far.found");
    await first.sink.finish();
    const url = cluster.url({ parameters: { table: "found", options: "-c search_path=far" } });
    const second = await openAt(url, { runId: "second" });
    await second.sink.write([anEnrichedRow()]);
    await second.sink.finish();
    expect(await cluster.query("SELECT rep_run_id FROM far.found")).toEqual([
      { rep_run_id: "second" },
    ]);
  });

  it("may have additional columns in any order", async () => {
    const { sink } = await open("wider");
    await sink.finish();
    await cluster.query("ALTER TABLE wider DROP COLUMN ip CASCADE");
    await cluster.query(
      "ALTER TABLE wider ADD COLUMN loaded timestamptz DEFAULT now(), ADD ip text",
    );
    const again = await open("wider");
    await again.sink.write([anEnrichedRow()]);
    await again.sink.finish();
    expect(await cluster.query("SELECT ip, loaded IS NOT NULL AS loaded FROM wider")).toEqual([
      { ip: "192.0.2.1", loaded: true },
    ]);
  });

  it("is rejected if columns are missing, with the statements that add them", async () => {
    const { sink } = await open("lacking");
    await sink.finish();
    await cluster.query("ALTER TABLE lacking DROP COLUMN rep_tags CASCADE, DROP COLUMN rep_bogon");
    const refusal = await faultOf(open("lacking"));
    expect(refusal).toMatchObject({ code: "table_lacks_columns" });
    const [, ...statements] = (refusal as { hint: string }).hint.split("\n");
    expect(statements.filter((line) => line.startsWith("ALTER TABLE"))).toHaveLength(2);
    await cluster.query(statements.join("\n"));
    await (await open("lacking")).sink.finish();
  });

  it("accepts the verdict after running the statements in its error", async () => {
    const { sink } = await open("older");
    await sink.finish();
    await cluster.query("DROP VIEW older_newest");
    await cluster.query("ALTER TABLE older DROP COLUMN rep_verdict");
    await cluster.query("CREATE VIEW older_newest AS SELECT * FROM older");
    const refusal = await faultOf(open("older"));
    expect(refusal).toMatchObject({
      code: "table_lacks_columns",
      message: expect.stringContaining("lacks the column rep_verdict"),
    });
    const [, ...statements] = (refusal as { hint: string }).hint.split("\n");
    await cluster.query(statements.join("\n"));
    const again = await open("older");
    await again.sink.write([anEnrichedRow({}, { query: { intent: "malicious" } })]);
    await again.sink.finish();
    expect(await cluster.query("SELECT rep_verdict FROM older_newest")).toEqual([
      { rep_verdict: "malicious" },
    ]);
  });

  it("is rejected if a column has the wrong type", async () => {
    const { sink } = await open("typed");
    await sink.finish();
    await cluster.query("DROP VIEW typed_newest");
    await cluster.query("ALTER TABLE typed ALTER COLUMN rep_first_seen TYPE text");
    expect(await faultOf(open("typed"))).toMatchObject({ code: "table_types_differ" });
  });

  it("is rejected without its key, with the statement that adds it", async () => {
    const { sink } = await open("keyless");
    await sink.finish();
    await cluster.query("ALTER TABLE keyless DROP CONSTRAINT keyless_pkey");
    const refusal = await faultOf(open("keyless"));
    expect(refusal).toMatchObject({ code: "table_lacks_key" });
    await cluster.query((refusal as { hint: string }).hint.split("\n")[1] ?? "");
    await (await open("keyless")).sink.finish();
  });

  it("is rejected if it is a view", async () => {
    await cluster.query("CREATE VIEW seen AS SELECT 1 AS one");
    expect(await faultOf(open("seen"))).toMatchObject({ code: "not_a_table" });
  });

  it("is rejected in a missing schema", async () => {
    expect(await faultOf(open("nowhere.enriched"))).toMatchObject({
      code: "schema_missing",
      hint: 'create it first: CREATE SCHEMA "nowhere";',
    });
  });

  it("is not created without permission", async () => {
    const url = cluster.url({
      user: "reader",
      password: "only reads",
      parameters: { table: "forbidden" },
    });
    expect(await faultOf(openAt(url))).toMatchObject({ code: "database_denied" });
  });

  it("stores thousands of answers of all kinds, each row once", async () => {
    const opened = await open("thousands");
    const { sink } = opened;
    for (let first = 1; first <= 3_000; first += 300) {
      await sink.write(rows(first, first + 299));
      await sink.checkpoint(() => "note");
    }
    const audited = await opened.audit();
    await sink.finish();
    expect(audited.rows).toBe(3_000);
    expect(await countsOf("thousands")).toEqual({ rows: "3000", keys: "3000", last: "3000" });
  });
});

describe("the checkpoint", () => {
  it("commits the note with the rows and deletes it when the run is finished", async () => {
    const { sink } = await open("noted", { runId: "noted" });
    await sink.write(rows(1, 2));
    await sink.checkpoint(({ rows }) => `after ${rows}`);
    const notes = "SELECT note FROM repute_checkpoint WHERE run_id = 'noted'";
    expect(await cluster.query(notes)).toEqual([{ note: "after 2" }]);
    await sink.finish();
    expect(await cluster.query(notes)).toEqual([]);
  });

  it("is read back even if a newer one than the given one exists", async () => {
    const first = await open("resumed", { runId: "resumed" });
    const old = await first.sink.checkpoint(() => "old");
    await first.sink.write(rows(1, 5));
    await first.sink.checkpoint(() => "new");
    await first.sink.abandon();
    const second = await open("resumed", { runId: "resumed", resume: old });
    expect(second.note).toBe("new");
    expect(await second.sink.checkpoint()).toEqual({ length: 5, rows: 5 });
    await second.sink.finish();
  });

  it("is requested when much is buffered", async () => {
    const { sink } = await open("full");
    expect((sink as { full?: boolean }).full).toBe(false);
    await sink.write(Array.from({ length: 9 }, (_, n) => megabyteRow(n + 1)));
    expect((sink as { full?: boolean }).full).toBe(true);
    await sink.checkpoint(() => "note");
    expect((sink as { full?: boolean }).full).toBe(false);
    await sink.finish();
  });

  it("allows deleting an unfinished run, and no other", async () => {
    const url = cluster.url({ parameters: { table: "restarted" } });
    const done = await open("restarted", { runId: "done" });
    await done.sink.write(rows(1, 2));
    await done.sink.finish();
    const unfinished = await open("restarted", { runId: "unfinished" });
    await unfinished.sink.write(rows(1, 3));
    await unfinished.sink.checkpoint(() => "note");
    await unfinished.sink.abandon();
    const warehouse = findWarehouse(url)!;
    await warehouse.discard({ runId: "unfinished", prefix: "rep_" });
    await warehouse.discard({ runId: "done", prefix: "rep_" });
    expect(await cluster.query("SELECT DISTINCT rep_run_id FROM restarted")).toEqual([
      { rep_run_id: "done" },
    ]);
  });

  it("deletes nothing if there is no table", async () => {
    const url = cluster.url({ parameters: { table: "never_made" } });
    await findWarehouse(url)!.discard({ runId: "any", prefix: "rep_" });
    expect(await cluster.query("SELECT to_regclass('never_made') AS found")).toEqual([
      { found: null },
    ]);
  });
});

describe("the login", () => {
  it("uses the application name repute", async () => {
    const { sink } = await open("named");
    const found = await cluster.query(
      "SELECT count(*) > 0 AS there FROM pg_stat_activity WHERE application_name = 'repute'",
    );
    await sink.finish();
    expect(found).toEqual([{ there: true }]);
  });

  it("reads the password from PGPASSWORD", async () => {
    vi.stubEnv("PGPASSWORD", cluster.password);
    const done = login({ password: null }).finally(() => vi.unstubAllEnvs());
    await expect(done).resolves.toBeUndefined();
  });

  it("reads the password from ~/.pgpass", async () => {
    const home = await temporaryFolder();
    const escaped = cluster.password.replaceAll(/[\\:]/g, "\\$&");
    await writeFile(
      join(home, ".pgpass"),
      `# passwords\nelsewhere:*:*:*:wrong\n127.0.0.1:${cluster.port}:*:postgres:${escaped}\n`,
      { mode: 0o600 },
    );
    vi.stubEnv("HOME", home);
    const done = login({ password: null }).finally(() => vi.unstubAllEnvs());
    await expect(done).resolves.toBeUndefined();
  });

  it("reports that a password is required", async () => {
    vi.stubEnv("PGPASSFILE", "/nonexistent");
    const refusal = await faultOf(login({ password: null })).finally(() => vi.unstubAllEnvs());
    expect(refusal).toMatchObject({ code: "database_login" });
  });

  it("never shows a rejected password", async () => {
    const refusal = await faultOf(login({ password: "s3cret-and-wrong" }));
    expect(refusal).toMatchObject({ code: "database_login" });
    expect(inspect(refusal, { depth: 20, showHidden: true })).not.toContain("s3cret-and-wrong");
  });

  it("reports a missing database", async () => {
    expect(await faultOf(login({ database: "absent" }))).toMatchObject({
      code: "database_missing",
    });
  });

  it("reports a missing server", async () => {
    const closed = "postgres://postgres:s3cret@127.0.0.1:1/postgres?table=enriched";
    const refusal = await faultOf(openAt(closed));
    expect(refusal).toMatchObject({ code: "database_unreachable" });
    expect(inspect(refusal, { depth: 20 })).not.toContain("s3cret");
  });

  it("reports a server without TLS", async () => {
    expect(await faultOf(login({ parameters: { sslmode: "require" } }))).toMatchObject({
      code: "database_tls",
    });
  });

  async function login(options: UrlOptions): Promise<void> {
    const parameters = { table: "logins", ...options.parameters };
    const { sink } = await openAt(cluster.url({ ...options, parameters }));
    await sink.finish();
  }
});

function open(table: string, options: Partial<WarehouseOptions> = {}): Promise<OpenedWarehouse> {
  return openAt(cluster.url({ parameters: { table } }), options);
}

function openAt(url: string, options: Partial<WarehouseOptions> = {}): Promise<OpenedWarehouse> {
  return findWarehouse(url)!.open({
    columns: ["ip"],
    prefix: "rep_",
    runId: "run",
    resume: null,
    stateFolder: "",
    ...options,
  });
}

function rows(from: number, to: number): ReturnType<typeof anEnrichedRow>[] {
  return Array.from({ length: to - from + 1 }, (_, index) =>
    anEnrichedRow({ number: from + index }, { query: fullIpResult }),
  );
}

function megabyteRow(number: number): ReturnType<typeof anEnrichedRow> {
  return anEnrichedRow({ number, cells: ["x".repeat(1024 * 1024)] });
}

async function countsOf(table: string): Promise<unknown> {
  const [counts] = await cluster.query(
    `SELECT count(*) AS rows, count(DISTINCT (rep_run_id, rep_row)) AS keys, max(rep_row) AS last FROM ${table}`,
  );
  return counts;
}

async function faultOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("nothing was refused");
}
