import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { PostgresCluster } from "../../../helpers/postgres-cluster.js";
import { runRepute, startRepute } from "../../../helpers/run-repute.js";
import { seeded } from "../../../helpers/seeded.js";
import { shell } from "../../../helpers/shell.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { type ObjectStoreServer, startObjectStore } from "../../output/object/object-store.js";
import { PostgresProxy } from "../../output/postgres/postgres-proxy.js";
import { queryDuckdb } from "../../output/tables/warehouse-readers.js";

const rows = 20_000;

let cluster: PostgresCluster;
let store: ObjectStoreServer;

const lines = `SELECT n, '198.51.100.' || (n % 250) AS ip FROM`;

beforeAll(async () => {
  cluster = await PostgresCluster.start();
  store = await startObjectStore();
  await cluster.query(`CREATE TABLE dump AS ${lines} generate_series(0, ${rows - 1}) AS n`);
  const cells = Array.from({ length: rows }, (_, n) => `${n},198.51.100.${n % 250}\n`);
  await store.put("dump.csv", `n,ip\n${cells.join("")}`);
});

afterAll(async () => {
  await cluster.stop();
  await store.close();
});

const inputs = ["duckdb", "parquet", "postgres", "object"] as const;

type Kind = (typeof inputs)[number];

function addressOf(kind: Kind): string {
  return {
    duckdb: "duckdb:in.duckdb?table=dump",
    parquet: "in.parquet",
    postgres: cluster.url({ parameters: { table: "dump" } }),
    object: "s3://lake/dump.csv",
  }[kind];
}

async function folderFor(kind: Kind): Promise<string> {
  const cwd = await temporaryFolder();
  const from = `${lines} range(${rows}) t(n)`;
  if (kind === "duckdb") await queryDuckdb(`CREATE TABLE dump AS ${from}`, join(cwd, "in.duckdb"));
  if (kind === "parquet") {
    await queryDuckdb(`COPY (${from}) TO '${cwd}/in.parquet' (FORMAT parquet)`);
  }
  return cwd;
}

const flags = ["--item-column", "ip", "--local", "--quiet"];

describe.each(inputs)("the copy of %s", (kind) => {
  it("on a full disk ends the run with one error, and is made again", async () => {
    const cwd = await folderFor(kind);
    await mkdir(join(cwd, "disk"));
    const run = `repute enrich "$INPUT" -o disk/out.csv ${flags.join(" ")}`;
    const env = { ...store.env, INPUT: addressOf(kind) };
    const script = `
      ${run}; code=$?; ls -A disk
      mount -o remount,size=200m disk; ${run} --resume || exit 98
      wc -l < disk/out.csv; exit $code`;
    const { code, stdout, stderr } = await shell(script, {
      cwd,
      env,
      disk: "size=256k",
    });
    const own = stderr.replaceAll(/^repute: warning: .*\n/gm, "");
    expect(own).toMatch(
      /^repute: cannot write \S+out\.csv\.state\/input\.\w+(?:\.new)?: the disk is full\n {2}free some space/,
    );
    expect(own).not.toMatch(/^ +at /m);
    expect({ code, stdout }).toEqual({ code: 1, stdout: `${rows + 1}\n` });
  });

  it("survives kills at any moment", async () => {
    const cwd = await folderFor(kind);
    const run = ["enrich", addressOf(kind), "-o", "out.csv", ...flags, "--resume"];
    const random = seeded(7);
    for (let n = 0; n < 8; n++) {
      const { child, result } = startRepute(run, { cwd, env: store.env });
      await Promise.race([result, delay(200 + 1_500 * random())]);
      child.kill("SIGKILL");
      await result;
    }
    expect(await runRepute(run, { cwd, env: store.env })).toMatchObject({ code: 0 });
    const written = (await readFile(join(cwd, "out.csv"), "utf8")).trimEnd().split("\n").slice(1);
    const numbers = written.map((line) => Number(line.slice(0, line.indexOf(","))));
    expect(numbers).toEqual(Array.from({ length: rows }, (_, n) => n));
    expect((await readdir(cwd)).filter((name) => name.includes(".state"))).toEqual([]);
  });
});

it("the copy of a PostgreSQL table whose connection is cut ends the run, and is made again", async () => {
  const proxy = await PostgresProxy.start(cluster.port);
  onTestFinished(() => proxy.stop());
  proxy.fate = "cut copy";
  const cwd = await temporaryFolder();
  const address = cluster.url({ parameters: { table: "dump" } });
  const input = address.replace(`:${cluster.port}/`, `:${proxy.port}/`);
  const run = ["enrich", input, "-o", "out.csv", ...flags];
  const cut = await runRepute(run, { cwd });
  expect(cut).toMatchObject({ code: 1, stderr: expect.stringContaining("cannot reach postgres:") });
  expect(await readdir(cwd)).toEqual([]);
  expect(await runRepute(run, { cwd })).toMatchObject({ code: 0 });
});
