// The same input to CSV, NDJSON, Parquet, DuckDB and PostgreSQL from the same service: rows per
// second and peak memory, and a checksum over the rows of each, which must be equal. Needs a build
// (`npm run build`), GNU time and, for its line, PostgreSQL.
//
//   node test/bench/warehouses.mjs [INPUT] [FLAG...]
//
// INPUT has tab-separated rows without a header; its first column is the item, and `#` starts a
// comment. Without it, 120,000 addresses are generated. FLAGs are passed to `repute enrich`.
import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { DuckDBInstance } from "@duckdb/node-api";
import pg from "pg";
import { columns } from "../../dist/core/columns.js";
import { startPostgres } from "./postgres-cluster.mjs";

const program = fileURLToPath(new URL("../../dist/program/repute.js", import.meta.url));
const [given, ...flags] = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), "repute-bench-"));
const input = given === undefined ? await madeInput() : resolve(given);
const service = spawn(process.execPath, [program, "serve"]);
const address = await new Promise((found) =>
  service.stdout.once("data", (text) => found(/http:\S+\/beta/.exec(String(text))[0])),
);
const cluster = await startPostgres(folder);

const outputs = [
  { name: "CSV", output: "out.csv", flags: ["--no-formula-guard"], check: inDuckdb(fromCsv()) },
  { name: "NDJSON", output: "out.ndjson", flags: ["--shape", "flat"], check: inDuckdb(fromJson()) },
  { name: "Parquet", output: "out.parquet", check: inDuckdb("read_parquet('out.parquet')") },
  { name: "DuckDB", output: "duckdb:out.duckdb?table=rows", check: inDuckdb("rows", "out.duckdb") },
  ...(cluster === null
    ? []
    : [{ name: "PostgreSQL", output: `${cluster.url}?table=rows`, check: inPostgres }]),
];

try {
  const table = [];
  for (const { name, output, flags: own = [], check } of outputs) {
    const { manifest, seconds, cpu, peak } = run([...flags, ...own, "-o", output]);
    table.push({
      output: name,
      rows: manifest.output.rows,
      "rows/s": Math.round(manifest.output.rows / manifest.seconds),
      "wall s": seconds.toFixed(1),
      // CPU time of the program alone, comparable even on a busy machine.
      "CPU s": cpu.toFixed(1),
      "peak MB": Math.round(peak / 1024),
      "written MB": manifest.output.bytes === null ? "" : (manifest.output.bytes / 1e6).toFixed(1),
      checksum: (await check()).slice(0, 12),
    });
  }
  console.table(table);
  const sums = new Set(table.map(({ checksum }) => checksum));
  console.log(sums.size === 1 ? "the rows are the same in each" : "THE ROWS DIFFER");
  process.exitCode = sums.size === 1 ? 0 : 1;
} finally {
  service.kill();
  cluster?.server.kill("SIGQUIT");
  await cluster?.ended;
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** One run of the program with the report of GNU time: seconds, and memory in KiB. */
function run(args) {
  const reading = ["--from", "tsv", "--no-header", "--item-column", "column_1", "--comment", "#"];
  const pace = ["--rate", "1000000/s", "--concurrency", "64"];
  const { stdout, stderr, status } = spawnSync(
    "time",
    [
      "-f",
      "%e %U %S %M",
      process.execPath,
      program,
      "enrich",
      input,
      ...reading,
      ...pace,
      "--intel-url",
      address,
      "--json",
      ...args,
    ],
    { cwd: folder, encoding: "utf8", maxBuffer: 1 << 28 },
  );
  if (status !== 0) throw new Error(stderr);
  const [seconds, user, system, peak] = stderr.trimEnd().split("\n").at(-1).split(" ").map(Number);
  return { manifest: JSON.parse(stdout), seconds, cpu: user + system, peak };
}

/** The columns that two runs over one input have in common: all but those of the run itself. */
function compared() {
  const own = new Set(["source", "looked_up_at"]);
  return [
    { name: "column_1", type: "text" },
    { name: "column_2", type: "text" },
    ...columns
      .filter(({ name }) => !own.has(name))
      .map(({ name, type }) => ({ name: `rep_${name}`, type })),
  ];
}

/** One text per row, the same for every output: `cell` turns a column into text. */
function line(cell) {
  return compared()
    .map(({ name, type }) => `coalesce(${cell(`"${name}"`, type)}, '')`)
    .join(" || ',' || ");
}

function inDuckdb(from, file) {
  return async () => {
    const typed = !/^read_(csv|json)/.test(from);
    const cell = (column, type) => {
      if (type === "timestamp") return `epoch_us(CAST(${column} AS TIMESTAMPTZ))::VARCHAR`;
      if (type === "text[]" && !from.startsWith("read_csv")) {
        return `array_to_string(${column}, '|')`;
      }
      return typed ? `${column}::VARCHAR` : column;
    };
    const cwd = process.cwd();
    process.chdir(folder);
    const instance = await DuckDBInstance.create(file ?? ":memory:");
    const connection = await instance.connect();
    const number = typed ? "rep_row" : "row_number() OVER ()";
    const result = await connection.runAndReadAll(
      `SELECT md5(string_agg(line, chr(10) ORDER BY n)) FROM (SELECT ${line(cell)} AS line, ${number} AS n FROM ${from})`,
    );
    connection.closeSync();
    instance.closeSync();
    process.chdir(cwd);
    return result.getRows()[0][0];
  };
}

async function inPostgres() {
  const cell = (column, type) => {
    if (type === "timestamp") return `(extract(epoch FROM ${column}) * 1000000)::bigint::text`;
    return type === "text[]" ? `array_to_string(${column}, '|')` : `${column}::text`;
  };
  const client = new pg.Client({ connectionString: cluster.url });
  await client.connect();
  const { rows } = await client.query(
    `SELECT md5(string_agg(line, chr(10) ORDER BY n)) AS sum FROM (SELECT ${line(cell)} AS line, rep_row AS n FROM rows) AS lines`,
  );
  await client.end();
  return rows[0].sum;
}

function fromCsv() {
  return "read_csv('out.csv', all_varchar = true, header = true, delim = ',', quote = '\"', parallel = false)";
}

function fromJson() {
  const types = compared().map(
    ({ name, type }) => `'${name}': '${type === "text[]" ? "VARCHAR[]" : "VARCHAR"}'`,
  );
  return `read_json('out.ndjson', format = 'newline_delimited', columns = {${types.join(", ")}})`;
}

async function madeInput() {
  const path = join(folder, "in.tsv");
  const lines = Array.from(
    { length: 120_000 },
    (_, n) => `${1 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}.7\t${n % 10}\n`,
  );
  await writeFile(path, lines.join(""));
  return path;
}
