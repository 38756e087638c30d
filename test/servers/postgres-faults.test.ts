import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Clock } from "../../src/core/clock.js";
import { systemClock } from "../../src/core/clock.js";
import { maxAttempts } from "../../src/outputs/postgres/postgres-database.js";
import { findWarehouse } from "../../src/outputs/registry.js";
import type { OpenedWarehouse, WarehouseOptions } from "../../src/outputs/warehouse/types.js";
import type { SinkPosition } from "../../src/outputs/types.js";
import { anEnrichedRow } from "../helpers/enriched-rows.js";
import { PostgresCluster } from "../helpers/postgres-cluster.js";
import { seeded } from "../helpers/seeded.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";
import { PostgresProxy } from "./postgres-proxy.js";

let cluster: PostgresCluster;

beforeAll(async () => {
  cluster = await PostgresCluster.start();
});

afterAll(() => cluster.stop());

describe("a lost connection", () => {
  it("is replaced between two checkpoints", async () => {
    const { sink } = await open("between", { clock: hurried() });
    await sink.write(rows(1, 100));
    await sink.checkpoint(() => "first");
    await terminate("application_name = 'repute'");
    await sink.write(rows(101, 200));
    await sink.checkpoint(() => "second");
    await sink.finish();
    expect(await countsOf("between")).toEqual({ rows: "200", keys: "200", last: "200" });
  });

  it("is replaced during a copy", async () => {
    const { sink } = await open("middle", { clock: hurried() });
    await sink.write(rows(1, 500));
    const release = await holdTable("middle");
    const writing = sink.checkpoint(() => "note");
    await until(
      "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'COPY%' AND wait_event_type = 'Lock'",
    );
    await terminate("query LIKE 'COPY%'");
    await release();
    await writing;
    await sink.finish();
    expect(await countsOf("middle")).toEqual({ rows: "500", keys: "500", last: "500" });
  });

  it("is replaced after the server was killed and restarted", async () => {
    const clock = hurried(() => cluster.startServer());
    const { sink } = await open("killed", { clock });
    await sink.write(rows(1, 300));
    await sink.checkpoint(() => "first");
    await cluster.kill();
    await sink.write(rows(301, 600));
    await sink.checkpoint(() => "second");
    await sink.finish();
    expect(await countsOf("killed")).toEqual({ rows: "600", keys: "600", last: "600" });
  });

  it("doesn't double rows whose commit succeeded but wasn't confirmed", async () => {
    const { sink, proxy } = await openBehindProxy("answered");
    await sink.write(rows(1, 400));
    proxy.fate = "lose answer";
    const position = await sink.checkpoint(({ rows }) => `after ${rows}`);
    await sink.write(rows(401, 500));
    await sink.finish();
    expect(position.rows).toBe(400);
    expect(await countsOf("answered")).toEqual({ rows: "500", keys: "500", last: "500" });
  });

  it("waits for a commit still in progress", async () => {
    const { sink, proxy } = await openBehindProxy("late");
    await sink.write(rows(1, 400));
    proxy.fate = "arrive late";
    const writing = sink.checkpoint(() => "note");
    await until("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted");
    proxy.deliver();
    await writing;
    await sink.finish();
    expect(await countsOf("late")).toEqual({ rows: "400", keys: "400", last: "400" });
  });

  it("ends the run as resumable if it cannot be replaced", async () => {
    const clock = hurried();
    const first = await open("gone", { clock });
    await first.sink.write(rows(1, 10));
    const position = await first.sink.checkpoint(() => "note");
    await cluster.kill();
    await first.sink.write(rows(11, 20));
    const lost = first.sink.checkpoint(() => "never");
    await expect(lost).rejects.toMatchObject({ code: "database_lost" });
    expect(clock.sleeps).toBe(maxAttempts - 1);
    await first.sink.abandon();

    await cluster.startServer();
    const second = await open("gone", {}, position);
    expect(second.note).toBe("note");
    await second.sink.write(rows(11, 20));
    await second.sink.finish();
    expect(await countsOf("gone")).toEqual({ rows: "20", keys: "20", last: "20" });
  });

  it("is not waited for when the run is told to stop", async () => {
    const stop = new AbortController();
    const { sink } = await open("stopped", { signal: stop.signal, clock: hurried() });
    await sink.write(rows(1, 10));
    await terminate("application_name = 'repute'");
    stop.abort(new Error("stopped by SIGINT"));
    await expect(sink.checkpoint(() => "note")).rejects.toThrow("stopped by SIGINT");
    await sink.abandon();
  });
});

describe("a server that rejects a batch", () => {
  it("is reported with its reason, and nothing of the batch is stored", async () => {
    const { sink } = await open("refusing");
    await cluster.query("ALTER TABLE refusing ADD CONSTRAINT small CHECK (rep_row < 5)");
    await sink.write(rows(1, 20_000));
    await expect(sink.checkpoint(() => "note")).rejects.toMatchObject({
      code: "database_error",
      message: expect.stringContaining("small"),
    });
    await sink.abandon();
    expect(await countsOf("refusing")).toMatchObject({ rows: "0" });
  });

  it("is reported if it already has rows of the run", async () => {
    const { sink } = await open("twice");
    await cluster.query("INSERT INTO twice (rep_run_id, rep_row) VALUES ('run of twice', 7)");
    await sink.write(rows(1, 10));
    await expect(sink.checkpoint(() => "note")).rejects.toMatchObject({
      code: "output_table_differs",
    });
    await sink.abandon();
  });
});

describe("a killed program", () => {
  it.each([1, 2, 3, 4])("loses and doubles no row, seed %i", async (seed) => {
    const folder = await temporaryFolder();
    const table = `writer_${seed}`;
    const job = {
      output: cluster.url({ parameters: { table } }),
      state: join(folder, "state"),
      rows: 40_000,
      every: 1_000,
    };
    const random = seeded(seed);
    let kills = 0;
    do {
      // Later each time, so that it reaches the end.
      const killAfterMs = kills < 12 ? Math.floor(random() * (150 + kills * 60)) : null;
      const { code, output } = await runWriter({ ...job, killAfterMs });
      expect({ code: code ?? 0, output }).toEqual({ code: 0, output: "" });
      if (code === null) kills++;
      // Finished when the work is done, even if a kill ended it.
    } while (existsSync(job.state));
    expect(kills).toBeGreaterThan(0);
    expect(await countsOf(table)).toEqual({ rows: "40000", keys: "40000", last: "40000" });
    expect(
      await cluster.query("SELECT 1 FROM repute_checkpoint WHERE run_id LIKE 'written%'"),
    ).toEqual([]);
  });

  it("survives together with its server", async () => {
    const folder = await temporaryFolder();
    const job = {
      output: cluster.url({ parameters: { table: "together" } }),
      state: join(folder, "state"),
      rows: 150_000,
      every: 1_000,
    };
    const random = seeded(5);
    let rounds = 0;
    do {
      const killAfterMs = rounds < 6 ? Math.floor(200 + random() * 500) : null;
      const writer = runWriter({ ...job, killAfterMs });
      await delay(Math.floor(200 + random() * 500));
      await cluster.kill();
      await cluster.startServer();
      await writer;
      rounds++;
    } while (existsSync(job.state) && rounds < 30);
    expect(rounds).toBeGreaterThan(1);
    expect(await countsOf("together")).toEqual({ rows: "150000", keys: "150000", last: "150000" });
  });
});

const writerPath = fileURLToPath(new URL("postgres-writer.mjs", import.meta.url));

/** Runs the built program's sink in its own process. */
async function runWriter(
  job: Readonly<Record<string, unknown>>,
): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [writerPath, JSON.stringify(job)]);
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  }
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, output };
}

function open(
  table: string,
  patience: Pick<WarehouseOptions, "clock" | "signal"> = {},
  resume: SinkPosition | null = null,
  url = cluster.url({ parameters: { table } }),
): Promise<OpenedWarehouse> {
  return findWarehouse(url)!.open({
    columns: ["ip"],
    prefix: "rep_",
    runId: `run of ${table}`,
    resume,
    stateFolder: "",
    ...patience,
  });
}

async function openBehindProxy(table: string): Promise<OpenedWarehouse & { proxy: PostgresProxy }> {
  const proxy = await PostgresProxy.start(cluster.port);
  onTestFinished(() => proxy.stop());
  const url = cluster
    .url({ parameters: { table } })
    .replace(`:${cluster.port}/`, `:${proxy.port}/`);
  return { ...(await open(table, { clock: hurried() }, null, url)), proxy };
}

/** A clock whose sleeps take as long as `asleep`. */
function hurried(
  asleep: () => Promise<void> = () => Promise.resolve(),
): Clock & { sleeps: number } {
  return {
    ...systemClock,
    sleeps: 0,
    sleep(): Promise<void> {
      this.sleeps++;
      return asleep();
    },
  };
}

function rows(from: number, to: number): ReturnType<typeof anEnrichedRow>[] {
  return Array.from({ length: to - from + 1 }, (_, index) =>
    anEnrichedRow({ number: from + index, cells: [`cell ${from + index}`] }),
  );
}

async function countsOf(table: string): Promise<unknown> {
  const [counts] = await cluster.query(
    `SELECT count(*) AS rows, count(DISTINCT (rep_run_id, rep_row)) AS keys, max(rep_row) AS last FROM ${table}`,
  );
  return counts;
}

/** Closes the server's side of connections. */
async function terminate(which: string): Promise<void> {
  await cluster.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND ${which}`,
  );
}

/** Locks a table against writes until the returned function is called. */
async function holdTable(table: string): Promise<() => Promise<void>> {
  const client = cluster.client();
  await client.connect();
  await client.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
  return () => client.end();
}

/** Waits until a query returns a row. */
async function until(query: string): Promise<void> {
  while ((await cluster.query(query)).length === 0) await delay(20);
}
