import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/core/clock.js";
import { cacheKeys } from "../../src/store/cache/cache-key.js";
import { openCache } from "../../src/store/cache/finding-cache.js";
import { startAnsweringServer } from "../helpers/answering-server.js";
import { runRepute, startRepute } from "../helpers/run-repute.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";
import { complete } from "../unit/lookup/findings.js";

const dayMs = 86_400_000;

/** Rows n0 … n9; the cache holds answers of these ages in days, some with an intent. */
const ages = {
  "n1.example.com": [3],
  "n3.example.com": [9],
  "n4.example.com": [2, "suspicious"],
  "n6.example.com": [0.5],
  "n7.example.com": [5],
  "n8.example.com": [4, "malicious"],
} as const;

type Answer = readonly [item: string, about: readonly [days: number, intent?: string]];

async function machine(cached: Readonly<Record<string, Answer[1]>> = ages) {
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
  for (const [value, [days, intent]] of Object.entries(cached)) {
    age = days;
    const finding = complete({ item: value, type: "DOMAIN", ...(intent && { intent }) });
    void store.put(keyOf({ kind: "domain", value }), finding);
  }
  await store.close();
  const flags = ["--cache", "cache", "--refresh", "worst-first", "--lookups", "query"];
  const call = ["enrich", "in.csv", "-o", "out.csv", "--intel-url", server.url, ...flags];
  const enrich = (...more: readonly string[]) =>
    runRepute([...call, "--concurrency", "1", "--resume", ...more], { cwd });
  return { server, cwd, call, enrich };
}

test("asks for expired verdicts, then the oldest, then the rest; the rows stay in order", async () => {
  const { server, cwd, enrich } = await machine();
  const asked = (): readonly string[] =>
    [...server.asked.keys()].map((path) => /n\d/.exec(path)?.[0] ?? path);
  const { code, stderr } = await enrich("--max-requests", "3");
  expect(code).toBe(75);
  expect(stderr).toContain("asking first for the 5 items whose cached answers have expired\n");
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

test("killed before its first row, it continues with what is left", async () => {
  const names = Array.from({ length: 300 }, (_, n) => `n${n}.example.com`);
  const ages = Object.fromEntries(names.map((name, n): Answer => [name, [2 + (n % 7)]]));
  const { server, cwd, call } = await machine({ ...ages, "n200.example.com": [2, "malicious"] });
  await writeFile(join(cwd, "in.csv"), `domain\n${names.join("\n")}\n`);
  const flags = [...call, "--concurrency", "4", "--rate", "9999/s", "--resume"];
  const { child, result } = startRepute(flags, { cwd });
  server.onRequest = (total) => {
    if (total === 150) child.kill("SIGKILL");
    return total < 150;
  };
  expect((await result).signal).toBe("SIGKILL");
  expect(await readFile(join(cwd, "out.csv.part"), "utf8")).not.toContain("example.com");
  expect([...server.asked.keys()][0]).toBe("query n200.example.com");
  server.onRequest = () => true;
  const asked = server.total;
  expect((await runRepute(flags, { cwd })).code).toBe(0);
  // Only what was open when it was killed may be asked again.
  expect(server.total - asked).toBeLessThanOrEqual(names.length - asked + 4);
  const manifest = JSON.parse(await readFile(join(cwd, "out.csv.manifest.json"), "utf8")) as object;
  expect(manifest).toMatchObject({ statuses: { complete: 300 }, resumed: 1 });
  const rows = (await readFile(join(cwd, "out.csv"), "utf8")).trimEnd().split("\n").slice(1);
  expect(rows.map((row) => row.split(",")[0])).toEqual(names);
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
