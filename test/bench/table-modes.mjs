// How fast a table takes a run in each mode, as a share of append, and how long the documented
// queries take on it. Needs a build (`npm run build`) and, for its lines, PostgreSQL.
//
//   node test/bench/table-modes.mjs [ROWS [EXISTING [DATABASE]]]
//
// Publishes ROWS staged rows into a table of EXISTING rows [default 100000 1000000] in DuckDB and
// PostgreSQL, or in the one that is named. Nine in ten of their items are in the table.
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import pg from "pg";
import { v7 as timeOrderedId } from "uuid";
import { systemClock } from "../../dist/core/clock.js";
import { findWarehouse } from "../../dist/io/output/registry.js";
import { openStage } from "../../dist/io/output/publish/staged-sink.js";
import { startPostgres } from "./postgres-cluster.mjs";

const [, , rowsText = "100000", existingText = "1000000", only] = process.argv;
const [rows, existing] = [Number(rowsText), Number(existingText)];
const folder = await mkdtemp(join(tmpdir(), "repute-bench-"));
const cluster = await startPostgres(folder);
const databases = [
  {
    name: "DuckDB",
    output: (table) => `duckdb:${join(folder, "out.duckdb")}?table=${table}`,
    query: inDuckdb,
    series: (count) => `range(1, ${count} + 1) AS s(n)`,
  },
  ...(cluster === null
    ? []
    : [
        {
          name: "PostgreSQL",
          output: (table) => `${cluster.url}?table=${table}`,
          query: inPostgres,
          series: (count) => `generate_series(1, ${count}) AS s(n)`,
        },
      ]),
].filter(({ name }) => only === undefined || name === only);
const queries = await documentedQueries();

try {
  for (const database of databases) {
    const table = [];
    for (const mode of ["append", "merge", "replace"]) {
      await publish(database, mode, [row(1, 1)]);
      await grow(database, mode);
      const seconds = await publish(database, mode, rowsOfNight());
      const speed = rows / seconds;
      const share = speed / (table[0]?.["rows/s"] ?? speed);
      table.push({ mode, "rows/s": Math.round(speed), "÷ append": share.toFixed(2) });
    }
    console.log(`${database.name}: ${rows} rows into ${existing}`);
    console.table(table);
    console.table(await timeQueries(database));
  }
} finally {
  cluster?.server.kill("SIGINT");
  await cluster?.ended;
  await rm(folder, { recursive: true, force: true });
}

/** Stages the rows of a run and publishes them. @returns seconds that publishing takes */
async function publish({ output }, mode, enriched) {
  const stateFolder = await mkdtemp(join(folder, "state-"));
  await mkdir(stateFolder, { recursive: true });
  const publication = await findWarehouse(output(tableOf(mode))).open({
    columns: ["item"],
    prefix: "rep_",
    runId: timeOrderedId(),
    stateFolder,
    base: join(stateFolder, "base"),
    clock: systemClock,
    mode,
  });
  const sink = await openStage(publication, stateFolder, null);
  for (let batch = [], at = 0; at <= enriched.length; at++) {
    if (at < enriched.length) batch.push(enriched[at]);
    if (batch.length < 1_000 && at < enriched.length) continue;
    await sink.write(batch);
    batch = [];
  }
  await sink.checkpoint();
  const start = performance.now();
  await sink.finish();
  const seconds = (performance.now() - start) / 1_000;
  await rm(stateFolder, { recursive: true, force: true });
  return seconds;
}

function tableOf(mode) {
  return mode === "append" ? "enriched" : `enriched_${mode}`;
}

/** Fills the table with copies of its only row, about other items. */
async function grow({ query, series }, mode) {
  const table = tableOf(mode);
  const names = await query(
    `SELECT column_name FROM information_schema.columns WHERE table_name = '${table}' ORDER BY ordinal_position`,
  );
  const columns = names.map(([name]) => `"${name}"`);
  const changed = {
    '"rep_row"': "n + 1",
    '"rep_item"': itemText("n + 1"),
    '"item"': itemText("n + 1"),
  };
  const values = columns.map((name) => changed[name] ?? name);
  await query(
    `INSERT INTO ${table} (${columns.join(", ")}) SELECT ${values.join(", ")} FROM ${table}, ${series(existing - 1)}`,
  );
  await query("ANALYZE");
}

function itemText(number) {
  return `'host-' || (${number}) || '.example.com'`;
}

function rowsOfNight() {
  const first = existing - Math.floor(rows * 0.9);
  return Array.from({ length: rows }, (_, n) => row(n + 1, first + n + 1));
}

/** A row about an item, with an answer. */
function row(number, item) {
  const value = `host-${item}.example.com`;
  const result = {
    item: value,
    type: "DOMAIN",
    serviceMailBlocklist: item % 9 === 0 ? "ACTIVE" : "NOT_LISTED",
    intent: item % 7 === 0 ? "malicious" : "none",
    tags: item % 5 === 0 ? ["phishing:credential-page", "spam:snowshoe"] : [],
    firstSeen: "2026-01-01T00:00:00Z",
    lastSeen: "2026-11-01T00:00:00Z",
  };
  return {
    row: { number, line: number, cells: [value], itemText: value, kindText: "" },
    item: { kind: "domain", value },
    finding: {
      status: "complete",
      missing: [],
      answers: { query: { result } },
      source: "live",
      httpStatus: 200,
      attempts: 1,
      lookedUpAt: new Date().toISOString(),
      error: null,
    },
  };
}

/** The queries of the documentation, and how long each takes. */
async function timeQueries({ query }) {
  const table = [];
  for (const { title, sql } of queries) {
    const start = performance.now();
    const [[found]] = await query(`SELECT count(*) FROM (${sql}) AS found`);
    table.push({
      query: title,
      found: Number(found),
      seconds: ((performance.now() - start) / 1_000).toFixed(2),
    });
  }
  return table;
}

async function documentedQueries() {
  const page = await readFile(new URL("../../docs/warehouses.md", import.meta.url), "utf8");
  const blocks = [...page.matchAll(/<!-- (?:morning )?queries -->\n```sql\n(.*?)```/gs)].map(
    ([, text]) => text,
  );
  return blocks
    .join("\n")
    .split(";")
    .flatMap((text) => {
      const [, title, sql] = /--\s*([^\n]*)\n(.*)/s.exec(text) ?? [];
      return title === undefined ? [] : [{ title, sql }];
    });
}

async function inDuckdb(sql) {
  const instance = await DuckDBInstance.create(join(folder, "out.duckdb"));
  const connection = await instance.connect();
  try {
    return (await connection.runAndReadAll(sql)).getRows();
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

async function inPostgres(text) {
  const client = new pg.Client({ connectionString: cluster.url });
  await client.connect();
  try {
    return (await client.query({ text, rowMode: "array" })).rows;
  } finally {
    await client.end();
  }
}
