import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { findWarehouse } from "../../src/outputs/registry.js";
import type { OpenedWarehouse, WarehouseOptions } from "../../src/outputs/warehouse/types.js";
import { anEnrichedRow } from "../helpers/enriched-rows.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";
import { someCells, someOptions, someRows } from "./warehouse-opening.js";
import { queryDuckdb } from "./warehouse-readers.js";
import type { ReadRow } from "./warehouse-readers.js";

describe("several runs into one table", () => {
  it("a run appends to earlier ones", async () => {
    const place = await aPlace();
    await load(place, { runId: "night 1" }, 3);
    await load(place, { runId: "night 2" }, 2);
    expect(
      await query(
        place,
        "SELECT rep_run_id AS run, count(*) AS n FROM enriched GROUP BY 1 ORDER BY 1",
      ),
    ).toEqual([
      { run: "night 1", n: 3n },
      { run: "night 2", n: 2n },
    ]);
  });

  it("the view has each item's newest row", async () => {
    const place = await aPlace();
    await load(place, { runId: "night 1" }, 3);
    await load(place, { runId: "night 2" }, 3);
    expect(await query(place, "SELECT rep_run_id, rep_row FROM enriched_newest")).toEqual([
      { rep_run_id: "night 2", rep_row: 3n },
    ]);
  });

  it("a row of a run cannot occur twice", async () => {
    const place = await aPlace();
    await load(place, {}, 1);
    await expect(
      query(place, "INSERT INTO enriched (rep_run_id, rep_row) SELECT rep_run_id, 1 FROM enriched"),
    ).rejects.toThrow(/constraint/i);
  });

  it("a finished run leaves no note", async () => {
    const place = await aPlace();
    await load(place, {}, 3);
    expect(await query(place, "FROM repute_checkpoint")).toEqual([]);
  });
});

it("requests a checkpoint when much is buffered", async () => {
  const { sink } = await open(await aPlace());
  const large = "x".repeat(1024 * 1024);
  expect(sink.full).toBe(false);
  for (let number = 1; number <= 32; number++) {
    await sink.write([anEnrichedRow({ number, cells: [large] })]);
  }
  expect(sink.full).toBe(true);
  await sink.checkpoint(() => "note");
  expect(sink.full).toBe(false);
  await sink.abandon();
});

describe("large rows", () => {
  const large = "x".repeat(1024 * 1024);

  async function loadLarge(place: Place, rows: number): Promise<OpenedWarehouse> {
    const opened = await open(place, { runId: "large" });
    for (let number = 1; number <= rows; number++) {
      await opened.sink.write([anEnrichedRow({ number, cells: [`${number} ${large}`] })]);
      if (opened.sink.full === true) await opened.sink.checkpoint(({ rows: n }) => `${n} rows`);
    }
    return opened;
  }

  it("share a vector with few others, whatever their number", async () => {
    const place = await aPlace();
    await load(place, { runId: "night 1" }, 3_000);
    const { sink } = await loadLarge(place, 20);
    await sink.write(someRows(21, 40));
    expect(await sink.finish()).toMatchObject({ rows: 40 });
    await load(place, { runId: "night 3" }, 3);
    const groups = await query(
      place,
      `SELECT rowid // 2048 AS vector, count(*)::INT AS n, sum(length(ip))::INT AS characters
       FROM enriched WHERE length(ip) > 1000 GROUP BY 1 ORDER BY 1`,
    );
    expect(groups.map(({ n }) => n)).toEqual([8, 8, 4]);
    const counts =
      "SELECT rep_run_id AS run, count(*) AS n, min(rep_row) AS first FROM enriched GROUP BY 1 ORDER BY 1";
    expect(await query(place, counts)).toEqual([
      { run: "large", n: 40n, first: 1n },
      { run: "night 1", n: 3_000n, first: 1n },
      { run: "night 3", n: 3n, first: 1n },
    ]);

    // A retry fills most of them in, and what an interrupted one left behind is removed.
    const own = `SELECT md5(string_agg(concat_ws('|', rep_run_id, rep_row, ip), '|' ORDER BY rep_run_id, rep_row)) AS sum FROM enriched`;
    const before = await query(place, own);
    await query(
      place,
      `UPDATE enriched SET rep_status = 'failed' WHERE rep_run_id = 'large' AND rep_row BETWEEN 3 AND 30;
       INSERT INTO enriched (rep_run_id, rep_row) SELECT 'large', -n FROM range(1, 2041) t(n)`,
    );
    const options = await someOptions(place.folder, { runId: "large" });
    const retry = await findWarehouse(place.output)!.fill!.open(options);
    for (let number = 3; number <= 30; number++) {
      await retry.sink.write([anEnrichedRow({ number: number - 2, savedNumber: number })]);
    }
    await retry.sink.checkpoint();
    // What a crash at this moment would leave.
    const crashed = { ...place, file: `${place.file}.copy` };
    for (const end of ["", ".wal"]) await copyFile(place.file + end, crashed.file + end);
    expect(await retry.sink.finish()).toMatchObject({ rows: 28 });
    const rewritten = await query(
      place,
      `SELECT rowid // 2048 AS vector, count(*)::INT AS n FROM enriched
       WHERE length(ip) > 1000 GROUP BY 1 ORDER BY 1`,
    );
    expect(rewritten.map(({ n }) => n)).toEqual([2, 8, 8, 2]);
    const left = "SELECT count(*) AS n FROM enriched WHERE rep_status <> 'complete'";
    for (const end of [place, crashed]) {
      expect(await query(end, own)).toEqual(before);
      expect(await query(end, left)).toEqual([{ n: 0n }]);
    }
  });

  it("leave no filler behind an interruption", async () => {
    const place = await aPlace();
    const { sink } = await loadLarge(place, 8);
    await sink.abandon();
    await query(
      place,
      "INSERT INTO enriched (rep_run_id, rep_row) SELECT 'large', -n FROM range(1, 2041) t(n)",
    );
    const resume = { length: 8, rows: 8 };
    const second = await open(place, { runId: "large", resume });
    expect(second.rows).toBe(8);
    await second.sink.finish();
    expect(await query(place, "SELECT count(*) AS n FROM enriched")).toEqual([{ n: 8n }]);
  });
});

describe("an interrupted run", () => {
  it("finds the note committed with its rows", async () => {
    const place = await aPlace();
    const first = await open(place);
    await first.sink.write(someRows(1, 3));
    const position = await first.sink.checkpoint(({ rows }) => `older, ${rows} rows`);
    await first.sink.write(someRows(4, 9));
    await first.sink.checkpoint(({ rows }) => `newer, ${rows} rows`);
    await first.sink.write(someRows(10, 11));
    await first.sink.abandon();

    const second = await open(place, { resume: position });
    expect(second.note).toBe("newer, 9 rows");
    await second.sink.write(someRows(10, 12));
    expect(await second.sink.checkpoint(() => "")).toEqual({ length: 12, rows: 12 });
    await second.sink.finish();
    const stored = await query(place, "SELECT ip FROM enriched ORDER BY rep_row");
    expect(stored.map((row) => row["ip"])).toEqual(someCells(1, 12));
  });

  it("can finish again if its first finish wasn't recorded", async () => {
    const place = await aPlace();
    const first = await open(place);
    await first.sink.write(someRows(1, 3));
    const position = await first.sink.checkpoint(() => "all");
    await first.sink.finish();
    const second = await open(place, { resume: position });
    expect(second.note).toBeNull();
    expect(await second.sink.finish()).toMatchObject({ rows: 3 });
  });

  it("refuses to continue if its rows were deleted", async () => {
    const place = await aPlace();
    const first = await open(place);
    await first.sink.write(someRows(1, 3));
    const position = await first.sink.checkpoint(() => "all");
    await first.sink.abandon();
    await query(place, "DELETE FROM enriched WHERE rep_row = 2");
    await expect(open(place, { resume: position })).rejects.toMatchObject({
      code: "output_table_differs",
      message: expect.stringContaining(
        "holds 2 rows of the interrupted run, but its checkpoint says 3",
      ),
    });
  });

  it("can be discarded without affecting others", async () => {
    const place = await aPlace();
    await load(place, { runId: "night 1" }, 3);
    const opened = await open(place, { runId: "night 2" });
    await opened.sink.write(someRows(1, 3));
    await opened.sink.checkpoint(() => "note");
    await opened.sink.abandon();
    const warehouse = findWarehouse(place.output)!;
    await warehouse.discard({ runId: "night 2", prefix: "rep_" });
    await warehouse.discard({ runId: "night 1", prefix: "rep_" });
    expect(await query(place, "SELECT DISTINCT rep_run_id AS run FROM enriched")).toEqual([
      { run: "night 1" },
    ]);
  });
});

describe("an existing table", () => {
  it("may have additional columns in any order, which keep their defaults", async () => {
    const place = await aPlace();
    await load(place, { runId: "night 1" }, 1);
    await query(
      place,
      `CREATE TABLE other AS SELECT 'us' AS loader, * FROM enriched LIMIT 0;
       ALTER TABLE other ALTER loader SET DEFAULT 'them'`,
    );
    const other = { ...place, output: place.output.replace("enriched", "other") };
    await load(other, { runId: "night 2" }, 1);
    expect(await query(place, "SELECT loader, rep_run_id, ip FROM other")).toEqual([
      { loader: "them", rep_run_id: "night 2", ip: "cell 1" },
    ]);
  });

  it("is rejected if columns are missing, with the statements that add them", async () => {
    const place = await aPlace();
    await load(place, { runId: "night 1" }, 1);
    const wider = { runId: "night 2", columns: ["ip", 'odd "name"'] };
    const fault = await open(place, wider).catch((error: unknown) => error as { hint: string });
    expect(fault).toMatchObject({
      code: "table_lacks_columns",
      message: 'the table enriched lacks the column odd "name"',
    });
    const statements = "hint" in fault ? fault.hint.split("\n").slice(1).join("\n") : "";
    await query(place, statements);
    await load(place, wider, 1);
    expect(await query(place, "SELECT count(*) AS n FROM enriched")).toEqual([{ n: 2n }]);
  });

  it("accepts the verdict after running the statements in its error", async () => {
    const place = await aPlace();
    await load(place, { runId: "night 1" }, 1);
    await query(
      place,
      `CREATE TABLE older AS SELECT * EXCLUDE (rep_verdict) FROM enriched;
       CREATE VIEW older_newest AS SELECT * FROM older`,
    );
    const older = { ...place, output: place.output.replace("enriched", "older") };
    const fault = await open(older, { runId: "night 2" }).catch(
      (error: unknown) => error as { hint: string },
    );
    expect(fault).toMatchObject({
      code: "table_lacks_columns",
      message: "the table older lacks the column rep_verdict",
    });
    await query(place, "hint" in fault ? fault.hint.split("\n").slice(1).join("\n") : "");
    const { sink } = await open(older, { runId: "night 2" });
    await sink.write([anEnrichedRow({}, { query: { intent: "malicious" } })]);
    await sink.finish();
    expect(await query(place, "SELECT rep_run_id, rep_verdict FROM older ORDER BY 1")).toEqual([
      { rep_run_id: "night 1", rep_verdict: null },
      { rep_run_id: "night 2", rep_verdict: "malicious" },
    ]);
    expect(await query(place, "SELECT rep_verdict FROM older_newest")).toEqual([
      { rep_verdict: "malicious" },
    ]);
  });

  it("is rejected if a column has the wrong type", async () => {
    const place = await aPlace();
    await query(place, "CREATE TABLE enriched (rep_row VARCHAR)");
    await expect(open(place)).rejects.toMatchObject({ code: "table_lacks_columns" });
    await query(place, "DROP TABLE enriched");
    await load(place, {}, 1);
    await query(place, "CREATE TABLE other AS SELECT * REPLACE (1::INTEGER AS ip) FROM enriched");
    const other = { ...place, output: place.output.replace("enriched", "other") };
    await expect(open(other)).rejects.toMatchObject({
      code: "table_types_differ",
      message: expect.stringContaining("ip is INTEGER but must be VARCHAR"),
    });
  });

  it("is rejected if it is a view", async () => {
    const place = await aPlace();
    await query(place, "CREATE VIEW enriched AS SELECT 1 AS one");
    await expect(open(place)).rejects.toMatchObject({ code: "not_a_table" });
  });

  it("may be in a schema, which must exist", async () => {
    const place = await aPlace("table=intel.hits");
    await expect(open(place)).rejects.toMatchObject({
      code: "schema_missing",
      hint: 'create it first: CREATE SCHEMA "intel";',
    });
    await query(place, "CREATE SCHEMA intel");
    await load(place, {}, 2);
    expect(await query(place, "SELECT count(*) AS n FROM intel.hits")).toEqual([{ n: 2n }]);
  });

  it("may have any name", async () => {
    const name = 'sel"ect; --';
    const place = await aPlace(`table=${encodeURIComponent(name)}`);
    await load(place, {}, 2);
    expect(await query(place, 'SELECT count(*) AS n FROM "sel""ect; --"')).toEqual([{ n: 2n }]);
  });

  it("keeps another object with the view's name", async () => {
    const place = await aPlace();
    await query(place, "CREATE TABLE enriched_newest (mine INTEGER)");
    await load(place, {}, 1);
    expect(await query(place, "SELECT mine FROM enriched_newest")).toEqual([]);
  });
});

describe("an unusable file", () => {
  it("is open in another program", async () => {
    const place = await aPlace();
    await load(place, {}, 1);
    const api = import.meta.resolve("@duckdb/node-api");
    const script = `const { DuckDBInstance } = await import(${JSON.stringify(api)});
      const held = await DuckDBInstance.create(${JSON.stringify(place.file)});
      console.log("open"); setInterval(() => held, 1e6);`;
    const other = spawn(process.execPath, ["--input-type=module", "-e", script], {
      cwd: fileURLToPath(new URL("../..", import.meta.url)),
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(async () => {
      other.kill("SIGKILL");
      await once(other, "close");
    });
    await once(other.stdout, "data");
    await expect(open(place)).rejects.toMatchObject({
      code: "output_locked",
      message: expect.stringContaining("another program has it open"),
    });
  });

  it("is not a database", async () => {
    const place = await aPlace();
    // DuckDB would read a file of this name as CSV, and write the rows nowhere.
    const csv = { ...place, output: `duckdb:${join(place.folder, "in.csv")}?table=t` };
    for (const [each, file] of [
      [place, place.file],
      [csv, join(place.folder, "in.csv")],
    ] as const) {
      await writeFile(file, "ip,note\n192.0.2.1,\n".repeat(1_000));
      await expect(open(each)).rejects.toMatchObject({ code: "output_not_duckdb" });
      const find = findWarehouse(each.output)!.fill!.find({ prefix: "rep_", runId: null });
      await expect(find).rejects.toMatchObject({ code: "output_not_duckdb" });
    }
  });

  it("is a directory", async () => {
    const place = await aPlace();
    await mkdir(place.file);
    await expect(open(place)).rejects.toMatchObject({ code: "output_is_directory" });
  });

  it("is in a missing folder", async () => {
    const place = await aPlace();
    const output = place.output.replace("out.duckdb", "absent/out.duckdb");
    await expect(open({ ...place, output })).rejects.toMatchObject({
      code: "output_folder_missing",
    });
  });
});

interface Place {
  readonly folder: string;
  readonly file: string;
  readonly output: string;
}

async function aPlace(parameters = "table=enriched"): Promise<Place> {
  const folder = await temporaryFolder();
  const file = join(folder, "out.duckdb");
  return { folder, file, output: `duckdb:${file}?${parameters}` };
}

async function open(
  { output, folder }: Place,
  members: Partial<WarehouseOptions> = {},
): Promise<OpenedWarehouse> {
  return findWarehouse(output)!.open(await someOptions(folder, members));
}

async function load(place: Place, members: Partial<WarehouseOptions>, rows: number): Promise<void> {
  const { sink } = await open(place, members);
  await sink.write(someRows(1, rows));
  await sink.checkpoint(() => "note");
  await sink.finish();
}

function query({ file }: Place, sql: string): Promise<readonly ReadRow[]> {
  return queryDuckdb(sql, file);
}
