import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/core/clock.js";
import { cacheKeys } from "../../src/store/cache/cache-key.js";
import { openCache } from "../../src/store/cache/finding-cache.js";
import { startAnsweringServer } from "../helpers/answering-server.js";
import { runRepute } from "../helpers/run-repute.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";
import { complete } from "../unit/lookup/findings.js";

const dayMs = 86_400_000;

/** Rows n0 … n9; the cache holds answers of these ages in days, some with an intent. */
const ages: Readonly<Record<string, readonly [days: number, intent?: string]>> = {
  n1: [3],
  n3: [9],
  n4: [2, "suspicious"],
  n6: [0.5],
  n7: [5],
  n8: [4, "malicious"],
};

async function machine() {
  const server = await startAnsweringServer();
  onTestFinished(() => server.close());
  const cwd = await temporaryFolder();
  const names = Array.from({ length: 10 }, (_, n) => `n${n}.example.com\n`);
  await writeFile(join(cwd, "in.csv"), `domain\n${names.join("")}n8.example.com\n`);
  const keyOf = cacheKeys(server.url, "query");
  let age = 0;
  const store = await openCache({
    folder: join(cwd, "cache"),
    ttlMs: dayMs,
    clock: { now: () => systemClock.now() - age * dayMs },
    onWarning: (message) => expect(message).toBe(""),
  });
  for (const [name, [days, intent]] of Object.entries(ages)) {
    age = days;
    const value = `${name}.example.com`;
    const finding = complete({ item: value, type: "DOMAIN", ...(intent && { intent }) });
    void store.put(keyOf({ kind: "domain", value }), finding);
  }
  await store.close();
  const flags = ["--cache", "cache", "--refresh", "worst-first", "--lookups", "query"];
  const call = [
    "enrich",
    "in.csv",
    "-o",
    "out.csv",
    "--intel-url",
    server.url,
    "--quiet",
    ...flags,
  ];
  const enrich = (...more: readonly string[]) =>
    runRepute([...call, "--concurrency", "1", "--resume", ...more], { cwd });
  return { server, cwd, enrich };
}

test("asks for expired verdicts, then the oldest, then the rest; the rows stay in order", async () => {
  const { server, cwd, enrich } = await machine();
  const asked = (): readonly string[] =>
    [...server.asked.keys()].map((path) => /n\d/.exec(path)?.[0] ?? path);
  expect((await enrich("--max-requests", "3")).code).toBe(75);
  expect(asked()).toEqual(["n8", "n4", "n3"]);
  expect((await enrich()).code).toBe(0);
  expect(asked()).toEqual(["n8", "n4", "n3", "n7", "n1", "n0", "n2", "n5", "n9"]);
  const rows = (await readFile(join(cwd, "out.csv"), "utf8")).split("\n").slice(1, -1);
  expect(rows.map((row) => row.slice(0, 2))).toEqual(
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 8].map((n) => `n${n}`),
  );
  const manifest = JSON.parse(await readFile(join(cwd, "out.csv.manifest.json"), "utf8")) as object;
  expect(manifest).toMatchObject({
    sources: { live: 9, cache: 1, duplicate: 1 },
    requests: { query: { total: 9 } },
  });
});

test.each([
  ["without a cache folder", [], "refresh_needs_cache"],
  ["with a pipe as input", ["--cache", "cache"], "refresh_needs_files"],
])("%s, it says what is missing", async (_name, flags, code) => {
  const server = await startAnsweringServer();
  onTestFinished(() => server.close());
  const call = ["enrich", "-o", "out.csv", "--intel-url", server.url, "--refresh", "worst-first"];
  const ended = await runRepute([...call, "--json", ...flags], {
    cwd: await temporaryFolder(),
    stdin: "domain\na.example.com\n",
  });
  expect(ended.code).toBe(2);
  expect(JSON.parse(ended.stdout)).toMatchObject({ error: { code } });
});
