// Every input to CSV, and CSV to every output, without lookups: the addresses are reserved. Rows per
// second, relative to CSV → CSV in the same round, and the same per CPU second (user and system, all
// threads). The tables have the medians of the rounds. Needs a build (`npm run build`) and GNU time. Inputs
// have 39 columns; text has the item alone.
//
//   node test/bench/tables.mjs [--rows 100000] [--rounds 2] [--postgres postgres://USER@HOST/EMPTY]
import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { figure, textTable } from "./text-table.mjs";

const program = fileURLToPath(new URL("../../dist/program/repute.js", import.meta.url));
const { values } = parseArgs({
  options: { rows: { type: "string" }, rounds: { type: "string" }, postgres: { type: "string" } },
});
const rows = Number(values.rows ?? 100_000);
const rounds = Number(values.rounds ?? 2);
// Ctrl-C ends the measured program; this one cleans up first.
process.on("SIGINT", () => undefined);
const folder = await mkdtemp(join(tmpdir(), "repute-bench-"));
const store = await startStore();

/** Names of outputs, the flags that they need, and as which inputs they are read. */
const forms = [
  { name: "CSV", at: (name) => `${name}.csv`, inputs: { CSV: (at) => at } },
  { name: "CSV, gzip", at: (name) => `${name}.csv.gz`, inputs: { "CSV, gzip": (at) => at } },
  { name: "NDJSON", at: (name) => `${name}.ndjson` },
  {
    name: "NDJSON, flat",
    at: (name) => `${name}.flat.ndjson`,
    flags: ["--shape", "flat"],
    inputs: { NDJSON: (at) => at, text: () => "items.txt" },
  },
  ...["ecs", "stix", "es-bulk"].map((to) => ({
    name: to,
    at: (name) => `${name}.${to}.json`,
    flags: ["--to", to],
  })),
  { name: "Parquet", at: (name) => `${name}.parquet`, inputs: { Parquet: (at) => at } },
  {
    name: "DuckDB",
    at: (name) => `duckdb:${name}.duckdb?table=t`,
    inputs: {
      "DuckDB, table": (at) => at,
      "DuckDB, query": (at) => at.replace("table=t", "query=SELECT * FROM t"),
    },
  },
  ...(values.postgres === undefined
    ? []
    : [
        {
          name: "PostgreSQL",
          at: (name) => `${values.postgres}?table=${name}`,
          inputs: {
            "PostgreSQL, table": (at) => at,
            "PostgreSQL, query": (at) => at.replace("table=", "query=SELECT * FROM "),
          },
        },
      ]),
  { name: "S3, CSV", at: (name) => `s3://bench/${name}.csv`, inputs: { "S3, CSV": (at) => at } },
];

try {
  const address = (n) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;
  const lines = (line) => Array.from({ length: rows }, (_, n) => `${line(n)}\n`).join("");
  const text = lines((n) => `${n},${address(n)},note ${n % 97}`);
  await writeFile(join(folder, "source.csv"), `n,ip,note\n${text}`);
  await writeFile(join(folder, "items.txt"), lines(address));
  const inputs = [];
  for (const form of forms.filter((each) => each.inputs !== undefined)) {
    run("source.csv", form, "given", ["--prefix", "given_"]);
    const named = Object.entries(form.inputs);
    inputs.push(...named.map(([name, of]) => ({ name, from: of(form.at("given")) })));
  }
  const [csv] = forms;
  const found = { "input → CSV": new Map(), "CSV → output": new Map() };
  for (let round = 0; round < rounds; round++) {
    const base = run("given.csv", csv, `base${round}`);
    const note = (kind, name, { wall, cpu, peak }) => {
      const measured = { rate: rows / wall, wall: base.wall / wall, cpu: base.cpu / cpu, peak };
      process.stderr.write(`${round + 1}/${rounds} ${kind}, ${name}: ${figure(measured.wall)}\n`);
      found[kind].set(name, [...(found[kind].get(name) ?? []), measured]);
    };
    for (const { name, from } of inputs) {
      const flags = from === "items.txt" ? { item: [] } : {};
      note("input → CSV", name, run(from, csv, `in${round}`, [], flags));
    }
    for (const to of forms) note("CSV → output", to.name, run("given.csv", to, `out${round}`));
  }
  for (const [kind, measured] of Object.entries(found)) {
    const head = [kind, "Rows a second", "÷ CSV → CSV", "Per CPU second ÷", "Peak, MB"];
    const table = [...measured].map(([name, each]) => {
      const median = (of) => each.map(of).toSorted((a, b) => a - b)[each.length >> 1];
      const rate = figure(median((m) => m.rate));
      const wall = figure(median((m) => m.wall));
      const cpu = figure(median((m) => m.cpu));
      return [name, rate, wall, cpu, String(median((m) => m.peak))];
    });
    console.log(textTable(head, table));
  }
} finally {
  store.server.kill();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Seconds, CPU seconds and peak memory in MB of one run. */
function run(from, { at, flags = [] }, name, more = [], { item = ["--item-column", "ip"] } = {}) {
  const output = at(name);
  const own = ["--bogons", "local", "--quiet", "--fail-on", "never", ...item];
  const args = ["enrich", from, "-o", output, "--local", ...own, ...flags, ...more];
  const { stderr, status } = spawnSync(
    "time",
    ["-f", "%e %U %S %M", process.execPath, program, ...args],
    { cwd: folder, encoding: "utf8", env: { ...process.env, ...store.env } },
  );
  if (status !== 0) throw new Error(`${from} → ${output}: ${stderr}`);
  const [wall, user, system, peak] = stderr.trimEnd().split("\n").at(-1).split(" ").map(Number);
  return { wall, cpu: user + system, peak: Math.round((peak * 1024) / 1e6) };
}

/** An object store in memory with the bucket `bench`: a process of its own, because runs block this one. */
async function startStore() {
  const env = {
    AWS_ACCESS_KEY_ID: "AKIAEXAMPLE",
    AWS_SECRET_ACCESS_KEY: "example",
    AWS_REGION: "us-east-1",
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
  };
  const source = `
    import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
    import { startFauxqs } from "fauxqs";
    const { port } = await startFauxqs({ port: 0, host: "127.0.0.1", logger: false });
    const endpoint = "http://127.0.0.1:" + port;
    await new S3Client({ endpoint, forcePathStyle: true }).send(new CreateBucketCommand({ Bucket: "bench" }));
    console.log(endpoint);`;
  const server = spawn(process.execPath, ["--input-type=module", "-e", source], {
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const endpoint = await new Promise((resolve, reject) => {
    server.stdout.once("data", (text) => resolve(String(text).trim()));
    server.once("close", () => reject(new Error("the object store did not start")));
  });
  return { server, env: { ...env, AWS_ENDPOINT_URL_S3: endpoint } };
}
