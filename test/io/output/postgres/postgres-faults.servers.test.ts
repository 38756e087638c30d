import { setTimeout as delay } from "node:timers/promises";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { maxAttempts } from "../../../../src/io/output/postgres/database.js";
import type { EnrichedRow } from "../../../../src/core/row.js";
import { openRun, publishRows, someRows, type StagedSink } from "../publication/publishing.js";
import type { PublisherOptions } from "../../../../src/io/output/publisher.js";
import { HurriedClock } from "../../../helpers/hurried-clock.js";
import { PostgresCluster } from "../../../helpers/postgres-cluster.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { PostgresProxy } from "./postgres-proxy.js";

const cluster = await PostgresCluster.start();
afterAll(() => cluster.stop());

describe("a lost connection", () => {
  it("is replaced before the rows are committed", async () => {
    const { sink } = await open("before", { clock: new HurriedClock() });
    await sink.write(someRows(1, 200));
    await terminate("application_name = 'repute'");
    await sink.publish();
    expect(await cluster.counts("before")).toEqual(once(200));
  });

  it.each(["cut copy", "lose answer"] as const)(
    "is replaced, and no row is doubled, by the fate: %s",
    async (fate) => {
      const table = fate.replace(" ", "_");
      const { sink, proxy } = await openBehindProxy(table);
      await sink.write(someRows(1, 500));
      proxy.fate = fate;
      await sink.publish();
      expect(proxy.fate).toBe("pass");
      expect(await cluster.counts(table)).toEqual(once(500));
    },
  );

  it("is replaced during an insert", async () => {
    await publish("inserted", []);
    const clock = new HurriedClock();
    const { sink } = await open("inserted", { clock });
    await sink.write(someRows(1, 500));
    const release = await holdTable("inserted");
    const finishing = sink.publish();
    await until(waiting("INSERT%"));
    await terminate("query LIKE 'INSERT%'");
    await release();
    await finishing;
    expect(clock.asked.length).toBe(1);
    expect(await cluster.counts("inserted")).toEqual(once(500));
  });

  it("is replaced after the server was killed and restarted", async () => {
    const { sink } = await open("killed", {
      clock: Object.assign(new HurriedClock(), { sleep: () => cluster.startServer() }),
    });
    await sink.write(someRows(1, 600));
    await cluster.kill();
    await sink.publish();
    expect(await cluster.counts("killed")).toEqual(once(600));
  });

  it("waits for a commit still in progress", async () => {
    const { sink, proxy } = await openBehindProxy("late");
    await sink.write(someRows(1, 400));
    proxy.fate = "arrive late";
    const finishing = sink.publish();
    await until("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted");
    proxy.deliver();
    await finishing;
    expect(await cluster.counts("late")).toEqual(once(400));
  });

  it("leaves the staged rows for a resume if it cannot be replaced", async () => {
    const clock = new HurriedClock();
    const { sink, folder, url } = await open("gone", { clock });
    await sink.write(someRows(1, 20));
    const position = await sink.checkpoint();
    await cluster.kill();
    await expect(sink.publish()).rejects.toMatchObject({ code: "database_lost" });
    expect(clock.asked.length).toBe(maxAttempts - 1);
    await sink.abandon();

    await cluster.startServer();
    const again = await openRun(url, folder, { runId: "run of gone" }, position);
    await again.sink.publish();
    expect(await cluster.counts("gone")).toEqual(once(20));
  });

  it("is not waited for when the run is told to stop", async () => {
    const stop = new AbortController();
    const { sink } = await open("stopped", { signal: stop.signal, clock: new HurriedClock() });
    await sink.write(someRows(1, 10));
    await cluster.kill();
    stop.abort(new Error("stopped by SIGINT"));
    await expect(sink.publish()).rejects.toThrow("stopped by SIGINT");
    await sink.abandon();
    await cluster.startServer();
  });
});

describe("a server that does not store all rows", () => {
  it("is reported with its reason, and nothing is stored", async () => {
    await publish("refusing", []);
    await cluster.query("ALTER TABLE refusing ADD CONSTRAINT small CHECK (rep_row < 20000)");
    const { sink } = await open("refusing");
    await sink.write(someRows(1, 21_000));
    await expect(sink.publish()).rejects.toMatchObject({
      code: "database_error",
      message: expect.stringContaining("small"),
    });
    await sink.abandon();
    expect(await cluster.counts("refusing")).toMatchObject({ rows: 0 });
  });

  it("is reported if a trigger drops rows, and stores all of them once it is gone", async () => {
    await publish("dropping", []);
    await cluster.query(`CREATE FUNCTION drop_some() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      RETURN CASE WHEN NEW.rep_row % 10 <> 0 THEN NEW END; END $$;
      CREATE TRIGGER drops BEFORE INSERT ON dropping FOR EACH ROW EXECUTE FUNCTION drop_some()`);
    const { sink } = await open("dropping");
    await sink.write(someRows(1, 100));
    await expect(sink.publish()).rejects.toMatchObject({
      code: "table_rows_lost",
      message: expect.stringContaining("stored 90 of 100 rows"),
    });
    expect(await cluster.counts("dropping")).toMatchObject({ rows: 0 });
    await cluster.query("DROP TRIGGER drops ON dropping");
    await sink.publish();
    expect(await cluster.counts("dropping")).toMatchObject({ rows: 100 });
  });

  it("is reported if it already has other rows of the run", async () => {
    await publish("twice", []);
    await cluster.query("INSERT INTO twice (rep_run_id, rep_row) VALUES ('run of twice', 70)");
    const { sink } = await open("twice");
    await sink.write(someRows(1, 10));
    await expect(sink.publish()).rejects.toMatchObject({ code: "output_table_differs" });
    await sink.abandon();
    expect(await cluster.counts("twice")).toMatchObject({ rows: 1 });
  });

  it.each([
    ["a deadlock", "40P01"],
    ["a lock that is not available", "55P03"],
  ])("is asked again after %s", async (_, code) => {
    const table = `code_${code.toLowerCase()}`;
    await publish(table, []);
    // A sequence keeps its value when the transaction is rolled back.
    await cluster.query(`CREATE SEQUENCE ${table}_times;
      CREATE FUNCTION ${table}_once() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('${table}_times') = 50 THEN RAISE EXCEPTION 'once' USING ERRCODE = '${code}'; END IF;
        RETURN NEW; END $$;
      CREATE TRIGGER once BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION ${table}_once()`);
    const clock = new HurriedClock();
    const { sink } = await open(table, { clock });
    await sink.write(someRows(1, 100));
    await sink.publish();
    expect(clock.asked.length).toBe(1);
    expect(await cluster.counts(table)).toMatchObject({ rows: 100 });
  });
});

/** A run into a table that was checked, with its stage open. */
async function open(
  table: string,
  patience: Pick<PublisherOptions, "clock" | "signal"> = {},
  url = cluster.url({ parameters: { table } }),
): Promise<{ sink: StagedSink; folder: string; url: string }> {
  const folder = await temporaryFolder();
  const { sink } = await openRun(url, folder, { runId: `run of ${table}`, ...patience });
  return { sink, folder, url };
}

/** Publishes rows of the run of a table, which is made by it. */
async function publish(table: string, written: readonly EnrichedRow[]): Promise<void> {
  const url = cluster.url({ parameters: { table } });
  await publishRows(url, await temporaryFolder(), written, { runId: `run of ${table}` });
}

async function openBehindProxy(table: string): Promise<{ sink: StagedSink; proxy: PostgresProxy }> {
  const proxy = await PostgresProxy.start(cluster.port);
  onTestFinished(() => proxy.stop());
  const url = cluster
    .url({ parameters: { table } })
    .replace(`:${cluster.port}/`, `:${proxy.port}/`);
  return { ...(await open(table, { clock: new HurriedClock() }, url)), proxy };
}

/** Each row is there once. */
const once = (n: number) => ({ rows: n, keys: n, last: n });

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
  await client.query(`BEGIN; LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE`);
  return () => client.end();
}

/** Finds a statement that waits for a lock. */
function waiting(like: string): string {
  return `SELECT 1 FROM pg_stat_activity WHERE query LIKE '${like}' AND wait_event_type = 'Lock'`;
}

/** Waits until a query returns a row. */
async function until(query: string): Promise<void> {
  while ((await cluster.query(query)).length === 0) await delay(20);
}
