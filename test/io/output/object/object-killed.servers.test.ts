import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { queryDuckdb } from "../tables/warehouse-readers.js";
import { startAnsweringServer } from "../../../helpers/answering-server.js";
import { enrichKilled, mostRepeated } from "../../../helpers/enrich-killed.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { done, type ObjectTests, useObjectStore } from "./object-tests.js";

let tests: ObjectTests;

useObjectStore((given) => (tests = given));

const rows = 10_000;

/** At most 4,096 rows wait to be written, so the first kill comes after a checkpoint. */
const kills = [9_500, 200];

test("a run from object to object that is killed repeatedly has each row once and shows no half object", async () => {
  const { store, cwd, key, repute } = tests;
  const server = await startAnsweringServer();
  const lines = Array.from({ length: rows }, (_, n) => `${n},host-${n}.example.com\n`);
  await store.put(`${key}/in.csv`, `n,item\n${lines.join("")}`);
  const name = `${key}/rows.parquet`;
  await store.put(name, "the object of the night before");
  const before = await store.etag(name);
  const seen = new Set<string | null>();
  const watch = new AbortController();
  const watching = watchObject(name, seen, watch.signal);
  const output = `s3://lake/${name}`;
  const args = [`s3://lake/${key}/in.csv`, "-o", output, "--resume"];
  for (const requests of kills) {
    const killed = await enrichKilled({ server, cwd, args, kill: { requests, ms: 0 } });
    expect(killed.signal).toBe("SIGKILL");
  }
  expect(await enrichKilled({ server, cwd, args, kill: null })).toMatchObject(done);
  watch.abort();
  await watching;

  expect(server.total).toBeLessThanOrEqual(rows + kills.length * mostRepeated);
  const after = await store.etag(name);
  expect([...seen].filter((etag) => etag !== before && etag !== after)).toEqual([]);
  expect(await repute(["verify", output])).toMatchObject({ code: 0 });
  const local = join(await temporaryFolder(), "rows.parquet");
  await writeFile(local, await store.get(name));
  const counts = `SELECT count(*)::INT AS rows, count(DISTINCT n)::INT AS items, max(rep_row)::INT AS last FROM '${local}'`;
  expect(await queryDuckdb(counts)).toEqual([{ rows, items: rows, last: rows }]);
  const manifest: unknown = JSON.parse((await store.get(`${name}.manifest.json`)).toString());
  expect(manifest).toMatchObject({ input: { rows }, output: { rows }, resumed: kills.length });
  expect(await readdir(cwd)).toEqual([]);
});

/** Notes each version of an object that a reader can see. */
async function watchObject(name: string, seen: Set<string | null>, signal: AbortSignal) {
  while (!signal.aborted) {
    seen.add(await tests.store.etag(name));
    await delay(20, undefined, { signal }).catch(() => undefined);
  }
}
