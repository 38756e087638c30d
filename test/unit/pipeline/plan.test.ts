import { Readable, Writable } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { enrich } from "../../../src/pipeline/enrich.js";
import { enrichOptions } from "../../../src/pipeline/options.js";
import { plan } from "../../../src/pipeline/plan.js";
import { startService } from "../../../src/service/service.js";

const rows = [
  "item,kind",
  "192.0.2.1,ip",
  "192[.]0.2.1,",
  "example.com,domain",
  "https://example.com/a,",
  "8.8.8.8,",
  "setup.exe,",
  "198.51.100.0/24,",
  ",",
  ",",
  "EXAMPLE.com.,nonsense",
];

const { signal } = new AbortController();

function input() {
  return { stream: Readable.from([Buffer.from(`${rows.join("\n")}\n`)]), name: "test" };
}

function planned(flags: Readonly<Record<string, unknown>> = {}) {
  const settings = enrichOptions.parse({ kindColumn: "kind", ...flags });
  return plan({ input: input(), settings, rates: settings.rate ?? [], signal });
}

test("an input is counted as a run would read it", async () => {
  expect(await planned()).toMatchObject({
    rows: 10,
    kinds: { ip: 3, domain: 2, url: 1 },
    unsupported: { empty: 2 },
    distinct_items: 4,
    duplicate_rows: 2,
    bogons: 1,
  });
});

test("under triage the number of queries is a range", async () => {
  const { requests } = await planned({ bogons: "local" });
  expect(requests["triage"]).toEqual({ query: { least: 0, most: 3 }, quick_check: 3 });
});

test("the commonest reason comes first", async () => {
  expect(Object.keys((await planned()).unsupported)[0]).toBe("empty");
});

test("time follows from the slowest rate", async () => {
  const { chosen } = await planned({ rate: "2/s,60/m" });
  expect(chosen).toMatchObject({ requests: 8, seconds: 7, quota_ends: [] });
});

test("a quota that does not last is told", async () => {
  const { chosen } = await planned({ rate: "1/s,5/d" });
  expect(chosen).toMatchObject({
    seconds: 86_402,
    quota_ends: [{ count: 5, per_seconds: 86_400, used_up_after_seconds: 4, left: 3 }],
  });
});

test.each([
  { lookups: "query,quick-check" },
  { lookups: "query" },
  { lookups: "quick-check", bogons: "local" },
])("with %j a faultless run makes as many requests as planned", async (flags) => {
  const service = await startService();
  onTestFinished(() => service.close());
  const { chosen } = await planned(flags);
  const manifest = await enrich({
    input: input(),
    settings: enrichOptions.parse({ kindColumn: "kind", intelUrl: service.intelUrl, ...flags }),
    stdout: new Writable({ write: (_chunk, _encoding, done) => done() }),
    apiKey: null,
    command: [],
    signal,
    durable: false,
  });
  const made = Object.values(manifest.requests).reduce((sum, { total }) => sum + total, 0);
  expect(made).toBe(chosen.requests);
});
