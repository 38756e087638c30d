import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import { openWithheld } from "../../../src/client/lookup/withheld.js";
import { openCache } from "../../../src/client/store/cache.js";
import { lookupEndpoints, memberOf } from "../../../src/core/finding.js";
import { enrich } from "../../../src/jobs/enrich/execute.js";
import { enrichOptions } from "../../../src/jobs/enrich/options.js";
import { plan, timeOf } from "../../../src/jobs/plan/plan.js";
import { jobHere } from "../../helpers/job-here.js";
import { ManualClock } from "../../helpers/manual-clock.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import { runningService } from "../../service/running-service.js";
import { workspace } from "../../helpers/workspace.js";

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

type CachedAnswers = NonNullable<Parameters<typeof plan>[0]["cache"]>;

const { signal } = new AbortController();

function input(header = rows[0]) {
  const text = [header, ...rows.slice(1)].join("\n");
  return { stream: Readable.from([Buffer.from(`${text}\n`)]), name: "test" };
}

async function planned(
  flags: Readonly<Record<string, unknown>> = {},
  cache?: CachedAnswers,
  header?: string,
) {
  const settings = enrichOptions.parse({ bogons: "ask", kindColumn: "kind", ...flags });
  const withheld = await openWithheld(settings);
  const pace = { rates: settings.rate ?? [] };
  return plan({ input: input(header), settings, withheld, pace, signal, ...(cache && { cache }) });
}

/** No request for any endpoint. */
const none = Object.fromEntries(lookupEndpoints.map((endpoint) => [memberOf(endpoint), 0]));

test("counts an input as a run would read it, the most frequent reason first", async () => {
  const found = await planned();
  expect(found).toMatchObject({
    rows: 10,
    kinds: { ip: 3, domain: 2, url: 1 },
    unsupported: { empty: 2 },
    distinct_items: 4,
    duplicate_rows: 2,
    bogons: 1,
  });
  expect(Object.keys(found.unsupported)[0]).toBe("empty");
  // Columns that the input has already are no reason to refuse.
  const status = await planned({ kindColumn: "rep_status" }, undefined, "item,rep_status");
  expect(status).toMatchObject({ rows: 10, distinct_items: 4 });
});

test("an address that a list holds back is no bogon", async () => {
  const list = join(await temporaryFolder(), "corp.txt");
  await writeFile(list, "0.0.0.0/0\n::/0\n");
  expect(await planned({ exclude: [list] })).toMatchObject({ bogons: 0, excluded: { [list]: 3 } });
});

test("under triage the number of queries is a range", async () => {
  const { requests } = await planned({ bogons: "local" });
  expect(requests["triage"]).toEqual({ ...none, query: { least: 0, most: 3 }, quick_check: 3 });
});

test.each([
  ["2/s,60/m", { requests: 8, seconds: 7, nights: 1 }],
  ["1/s,5/d", { requests: 8, seconds: 86_402, nights: 2 }],
])(
  "time follows from the slowest rate, and from a quota that will not suffice: %s",
  async (...given) => {
    const [rate, chosen] = given;
    expect(await planned({ rate })).toMatchObject({ chosen });
  },
);

const everyLookups = ["query,quick-check", "query", "quick-check", "triage"];

/** Runs over the same input; returns the number of requests per endpoint. */
async function made(flags: Readonly<Record<string, unknown>>): Promise<Record<string, number>> {
  const manifest = await enrich(
    jobHere({
      input: input(),
      settings: { kindColumn: "kind", ...flags },
      stdout: new Writable({ write: (_chunk, _encoding, done) => done() }),
      signal,
    }),
  );
  return Object.fromEntries(
    Object.entries(manifest.requests).map(([endpoint, { total }]) => [endpoint, total]),
  );
}

function sumOf(requests: Readonly<Record<string, number>>): number {
  return Object.values(requests).reduce((sum, total) => sum + total, 0);
}

async function serving(): Promise<string> {
  const service = await runningService();
  return service.intelUrl;
}

/** The cache in a folder as a plan opens it. */
async function opened(folder: string, address: string): Promise<CachedAnswers> {
  const clock = new ManualClock({ startMs: Date.now() });
  const options = { folder, ttlMs: 86_400_000, clock, readOnly: true };
  const store = await openCache({ ...options, onWarning: (text) => expect.unreachable(text) });
  onTestFinished(() => store.close());
  return { address, store };
}

describe("with a cache", () => {
  /** A cache filled by an earlier run over the same input. */
  async function filled(flags: Readonly<Record<string, unknown>>) {
    const [folder, intelUrl] = [await temporaryFolder(), await serving()];
    await made({ intelUrl, cache: folder, ...flags });
    return { folder, intelUrl };
  }

  test.each(
    ["query", "quick-check", "query,quick-check", "triage"].flatMap((before) =>
      everyLookups.map((lookups) => ({ before, lookups })),
    ),
  )("filled by %j a run makes as many requests as planned", async ({ before, lookups }) => {
    const { folder, intelUrl } = await filled({ lookups: before });
    const { chosen, requests } = await planned({ lookups }, await opened(folder, intelUrl));
    const run = await made({ lookups, intelUrl, cache: folder });
    const { query = 0, quick_check } = requests[lookups]!;
    const quickCheck = quick_check as number;
    expect(run["quick-check"] ?? 0).toBe(quickCheck);
    const { least, most } = typeof query === "number" ? { least: query, most: query } : query;
    expect(run["query"] ?? 0).toBeGreaterThanOrEqual(least);
    expect(run["query"] ?? 0).toBeLessThanOrEqual(most);
    // If every quick check is cached, the number of queries is certain.
    const certain = lookups !== "triage" || quickCheck === 0;
    expect({ certain: least === most, most: chosen.requests }).toEqual({
      certain: certain || least === most,
      most: certain ? sumOf(run) : most + quickCheck,
    });
  });

  test("reports what it skips, and ignores answers of another service", async () => {
    const { folder, intelUrl } = await filled({ lookups: "query" });
    const { cached } = await planned({}, await opened(folder, intelUrl));
    expect(cached).toEqual({ ...none, query: 4 });
    const other = await opened(folder, "https://other.example/beta");
    expect((await planned({}, other)).cached).toEqual(none);
  });

  test("a plan creates no cache", async () => {
    const folder = join(await temporaryFolder(), "none");
    const cache = await opened(folder, "https://intel.example/beta");
    await planned({}, cache);
    expect(existsSync(folder)).toBe(false);
  });
});

test("prints a plan line by line, or as one JSON object with --json", async () => {
  const { run } = await workspace({
    "in.csv": "ip,note\n192.0.2.1,\n192.0.2.1,192.0.2.9\nexample.com,\nsetup.exe,\n",
  });
  const { code, stdout, stderr } = await run("plan", "in.csv", "--rate", "2/s", "--rate", "3/d");
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr:
      'repute: using column "ip" (4 of 4 sampled cells are indicators)\n' +
      'repute: column "note" has items too (1 of 4 rows): --item-column ip --item-column note\n',
  });
  expect(stdout).toMatch(/^rows +4$/m);
  expect(stdout).toMatch(/^requests query,quick-check +query 2, quick-check 2$/m);
  expect(stdout).toMatch(/^nights +2, with one run a night and --resume$/m);
  expect(stdout).toMatch(/^elsewhere +note 1 \(not looked up\)$/m);
  const json = await run("plan", "in.csv", "--json");
  expect(JSON.parse(json.stdout)).toMatchObject({
    rows: 4,
    kinds: { ip: 2 },
    elsewhere: { note: 1 },
    distinct_items: 2,
    chosen: { requests: 4 },
  });
});

const perSecond = (count: number) => ({ count, perMs: 1000 });
const perDay = (count: number) => ({ count, perMs: 86_400_000 });

test("the slowest rate decides; without one, the time is unknown", () => {
  const rates = [perSecond(10), perSecond(1)];
  expect(timeOf({ rates }, 150)).toEqual({ seconds: 149, nights: 1 });
  expect(timeOf({ rates: [] }, 150).seconds).toBeNull();
});

test.each([
  // 4,001 rows with one request each.
  [4_001, [perDay(2_500)], 0, 2],
  [4_001, [perDay(2_500)], 1_000, 3],
  [4_001, [perDay(2_500)], 2_500, 3],
  [8_002, [perDay(2_500)], 0, 4],
  [2_500, [perDay(2_500)], 0, 1],
  [2_501, [perDay(2_500), perSecond(10)], 0, 2],
  [4_001, [perDay(2_500), { count: 1_000, perMs: 3_600_000 }], 0, 5],
  [4_001, [perSecond(1)], 0, 1],
  [0, [perDay(1)], 1, 1],
])("%i requests at %j with %i used take %4$i nights", (requests, rates, used, nights) => {
  const spent = () => used;
  expect(timeOf({ rates, spent }, requests).nights).toBe(nights);
});
