// The same input to every kind of output from the same service: rows per second, also as a multiple
// of CSV, peak memory, the most that the files beside the output take, and a checksum over the rows
// of each, which must be equal. Needs a build (`npm run build`), GNU time and, for its line,
// PostgreSQL.
//
//   node test/bench/warehouses.mjs [ROWS | INPUT] [FLAG...]
//
// INPUT has tab-separated rows without a header; its first column is the item, and `#` starts a
// comment. Without it, ROWS of 120,000 addresses are generated [default 120000]. FLAGs are passed to
// `repute enrich`. REPUTE_PROGRAM is the program of another build.
import { spawn } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { CreateBucketCommand, GetObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { DuckDBInstance } from "@duckdb/node-api";
import { startFauxqs } from "fauxqs";
import pg from "pg";
import { columns } from "../../dist/core/columns.js";
import { startPostgres } from "./postgres-cluster.mjs";

const here = fileURLToPath(new URL("../../dist/program/repute.js", import.meta.url));
const program = process.env["REPUTE_PROGRAM"] ?? here;
const [given = "120000", ...flags] = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), "repute-bench-"));
const input = /^\d+$/.test(given) ? await madeInput(Number(given)) : resolve(given);
const service = spawn(process.execPath, [program, "serve"]);
const address = await new Promise((found) =>
  service.stdout.once("data", (text) => found(/http:\S+\/beta/.exec(String(text))[0])),
);
const cluster = await startPostgres(folder);
const objects = await startFauxqs({ port: 0, host: "127.0.0.1", logger: false });
const env = {
  ...process.env,
  REPUTE_BOGONS: "ask",
  AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${objects.port}`,
  AWS_ACCESS_KEY_ID: "bench",
  AWS_SECRET_ACCESS_KEY: "bench",
  AWS_REGION: "us-east-1",
};
Object.assign(process.env, env);
const store = new S3Client({ forcePathStyle: true });
await store.send(new CreateBucketCommand({ Bucket: "bench" }));

const outputs = [
  { name: "CSV", output: "out.csv", flags: ["--no-formula-guard"], check: inDuckdb(fromCsv()) },
  { name: "NDJSON", output: "out.ndjson", flags: ["--shape", "flat"], check: inDuckdb(fromJson()) },
  { name: "Parquet", output: "out.parquet", check: inDuckdb("read_parquet('out.parquet')") },
  {
    name: "data set",
    output: "set/",
    flags: ["--to", "parquet", "--rows-per-file", "50000"],
    check: inDuckdb("read_parquet('set/*.parquet')"),
  },
  { name: "object", output: "s3://bench/out.csv", flags: ["--no-formula-guard"], check: inObject },
  { name: "DuckDB", output: "duckdb:out.duckdb?table=rows", check: inDuckdb("rows", "out.duckdb") },
  ...(cluster === null
    ? []
    : [{ name: "PostgreSQL", output: `${cluster.url}?table=rows`, check: inPostgres }]),
];

try {
  const table = [];
  for (const { name, output, flags: own = [], check } of outputs) {
    const found = await run([...flags, ...own, "-o", output]);
    const { manifest, seconds, cpu, peak, beside } = found;
    const speed = manifest.output.rows / manifest.seconds;
    table.push({
      output: name,
      rows: manifest.output.rows,
      "rows/s": Math.round(speed),
      "÷ CSV": (speed / (table[0]?.["rows/s"] ?? speed)).toFixed(2),
      "wall s": seconds.toFixed(1),
      // CPU time of the program alone, comparable even on a busy machine.
      "CPU s": cpu.toFixed(1),
      "peak MB": Math.round(peak / 1024),
      "beside MB": (beside / 1e6).toFixed(1),
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
  await objects.stop();
  cluster?.server.kill("SIGQUIT");
  await cluster?.ended;
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

/**
 * One run of the program with the report of GNU time: seconds, and memory in KiB; and the most bytes
 * of the files that it keeps beside its output.
 */
async function run(args) {
  const reading = ["--from", "tsv", "--no-header", "--item-column", "column_1", "--comment", "#"];
  const pace = ["--rate", "1000000/s", "--concurrency", "64", "--intel-url", address];
  const command = [process.execPath, program, "enrich", input, ...reading, ...pace, "--json"];
  const child = spawn("time", ["-f", "%e %U %S %M", ...command, ...args], { cwd: folder, env });
  const texts = [child.stdout, child.stderr].map(async (stream) => {
    let text = "";
    for await (const chunk of stream.setEncoding("utf8")) text += chunk;
    return text;
  });
  let beside = 0;
  const watch = setInterval(() => {
    const states = readdirSync(folder).filter((name) => /\.state$|^repute-s3/.test(name));
    beside = Math.max(
      beside,
      states.reduce((sum, name) => sum + bytesIn(join(folder, name)), 0),
    );
  }, 200);
  const [stdout, stderr] = await Promise.all(texts);
  clearInterval(watch);
  const lines = stderr.trimEnd().split("\n");
  if (stdout === "") throw new Error(stderr);
  const [seconds, user, system, peak] = lines.at(-1).split(" ").map(Number);
  return { manifest: JSON.parse(stdout), seconds, cpu: user + system, peak, beside };
}

function bytesIn(path) {
  const facts = statSync(path, { throwIfNoEntry: false });
  if (facts?.isDirectory() !== true) return facts?.size ?? 0;
  const names = existsSync(path) ? readdirSync(path) : [];
  return names.reduce((sum, name) => sum + bytesIn(join(path, name)), 0);
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

async function inObject() {
  const { Body } = await store.send(new GetObjectCommand({ Bucket: "bench", Key: "out.csv" }));
  await writeFile(join(folder, "out.csv"), Body);
  return inDuckdb(fromCsv())();
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

async function madeInput(rows) {
  const path = join(folder, "in.tsv");
  const lines = Array.from({ length: rows }, (_, row) => {
    const n = row % 120_000;
    return `${1 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}.7\t${n % 10}\n`;
  });
  await writeFile(path, lines.join(""));
  return path;
}
