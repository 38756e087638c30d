import { readdirSync, readFileSync, statSync } from "node:fs";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { DuckDBInstance } from "@duckdb/node-api";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { uploadObject } from "../../src/s3/upload-object.js";
import { runRepute, startRepute } from "../helpers/run-repute.js";
import { seeded } from "../helpers/seeded.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";
import { type ObjectStoreServer, startObjectStore } from "./object-store.js";

/** `REPUTE_TEST_OBJECT_ROWS=1000000 REPUTE_TEST_OBJECT_KILLS=10` for the long version. */
const rows = Number(process.env["REPUTE_TEST_OBJECT_ROWS"] ?? "4000");
const kills = Number(process.env["REPUTE_TEST_OBJECT_KILLS"] ?? "3");

/** The last ones are made during the upload. */
const duringUpload = Math.ceil(kills / 4);

let store: ObjectStoreServer;

beforeAll(async () => {
  store = await startObjectStore();
  for (const [name, value] of Object.entries(store.env)) vi.stubEnv(name, value);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await store.close();
});

const earlier = "the object of the night before";

test(
  "a run from object to object that is killed repeatedly has each row once and shows no half object",
  { timeout: 3_600_000 },
  async () => {
    const cwd = await temporaryFolder();
    await putInput(cwd);
    await store.put("out/rows.parquet", earlier);
    const before = await store.etag("out/rows.parquet");
    const seen = new Set<string | null>();
    const watch = new AbortController();
    const watching = watchObject(seen, watch.signal);
    const random = seeded(rows + kills);
    const started = Date.now();
    let killed = 0;
    let peak = 0;
    let end: { readonly code: number | null; readonly stderr: string };
    do {
      const run = startRepute(
        ["enrich", "s3://lake/in/rows.csv", "-o", "s3://lake/out/rows.parquet", ...flags],
        { cwd, env: store.env },
      );
      run.child.stdin?.end();
      const session = new AbortController();
      const measured = peakOf(run.child.pid ?? 0, session.signal);
      const kill = (): void => void run.child.kill("SIGKILL");
      if (killed < kills - duringUpload) void killAfter(random(), cwd, kill, session.signal);
      const upload = Math.floor(random() * uploads);
      store.fault = killed < kills ? killInUpload(upload, kill) : () => null;
      end = await run.result;
      session.abort();
      peak = Math.max(peak, await measured);
      if (end.code === null) killed++;
    } while (end.code === null);
    expect(end).toMatchObject({ code: 0, stderr: "" });
    const seconds = (Date.now() - started) / 1000;
    watch.abort();
    await watching;

    expect(killed).toBe(kills);
    const after = await store.etag("out/rows.parquet");
    expect([...seen].filter((etag) => etag !== before && etag !== after)).toEqual([]);
    const verified = await runRepute(["verify", "s3://lake/out/rows.parquet"], {
      cwd,
      env: store.env,
    });
    expect(verified).toMatchObject({ code: 0 });
    const local = join(await temporaryFolder(), "rows.parquet");
    await writeFile(local, await store.get("out/rows.parquet"));
    expect(await counted(local)).toEqual([rows, rows, 0, rows - 1, rows]);
    const manifest = JSON.parse(
      (await store.get("out/rows.parquet.manifest.json")).toString(),
    ) as Manifest;
    expect(manifest).toMatchObject({ input: { rows }, output: { rows } });
    expect(manifest.resumed).toBeGreaterThan(0);
    expect(await readdir(cwd)).toEqual([]);
    if (process.env["REPUTE_TEST_OBJECT_ROWS"] !== undefined) {
      const { size } = statSync(local);
      const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;
      process.stdout.write(
        `${rows} rows, ${killed} kills, ${seconds.toFixed(0)} s, output ${mb(size)}, peak ${mb(peak)}\n`,
      );
    }
  },
);

interface Manifest {
  readonly resumed: number;
}

/** One row in 20 is looked up; the others are reserved addresses, which need no request. */
const everyNth = 20;

const flags = "--local --synthetic 1 --bogons local --resume --quiet --fail-on never".split(" ");

/** Requests of an upload at which a kill is aimed; that of a small file has one. */
const uploads = rows > 100_000 ? 6 : 1;

async function putInput(cwd: string): Promise<void> {
  const itemOf = (n: number): string =>
    n % everyNth === 0 ? `host-${n}.example.com` : `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;
  const lines = Array.from({ length: rows }, (_, n) => `${n},${itemOf(n)}\n`);
  const path = join(cwd, "input.csv");
  await writeFile(path, `n,item\n${lines.join("")}`);
  const journal = join(cwd, "upload.json");
  await uploadObject({ path, address: "s3://lake/in/rows.csv", journal });
  await rm(path);
}

/** Kills when about the given share of the lookups is in the journal. */
async function killAfter(
  share: number,
  cwd: string,
  kill: () => void,
  signal: AbortSignal,
): Promise<void> {
  const enough = share * (rows / everyNth) * journalBytes;
  while (!signal.aborted) {
    if (journalSize(cwd) >= enough) return kill();
    await delay(2, undefined, { signal }).catch(() => undefined);
  }
}

/** About the size of a finding in the journal. */
const journalBytes = 1_100;

function journalSize(cwd: string): number {
  try {
    const folder = readdirSync(cwd).find((name) => name.startsWith("repute-s3-")) ?? "";
    return statSync(join(cwd, folder, "rows.parquet.state", "journal", "records")).size;
  } catch {
    return 0;
  }
}

/** Kills at one of the requests that write objects. */
function killInUpload(at: number, kill: () => void): ObjectStoreServer["fault"] {
  let writes = 0;
  return ({ method }) => {
    if (method !== "PUT" && method !== "POST") return null;
    if (writes++ < at) return null;
    kill();
    return "reset";
  };
}

/** Notes each version of the output that a reader can see. */
async function watchObject(seen: Set<string | null>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    seen.add(await store.etag("out/rows.parquet"));
    await delay(20, undefined, { signal }).catch(() => undefined);
  }
}

/** Largest resident size of a process, in bytes. */
async function peakOf(pid: number, signal: AbortSignal): Promise<number> {
  let peak = 0;
  while (!signal.aborted) {
    try {
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      peak = Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? peak / 1024) * 1024;
    } catch {
      // It has ended.
    }
    await delay(50, undefined, { signal }).catch(() => undefined);
  }
  return peak;
}

/** Rows, distinct rows, first and last number, and last row number of a Parquet file. */
async function counted(path: string): Promise<readonly number[]> {
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  const query = `SELECT count(*), count(DISTINCT n), min(n::INT), max(n::INT), max(rep_row) FROM '${path}'`;
  const [found = []] = (await connection.runAndReadAll(query)).getRows();
  connection.closeSync();
  return found.map(Number);
}
