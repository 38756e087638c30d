import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startAnsweringServer } from "../../helpers/answering-server.js";
import { enrichHere, type EnrichHereOptions } from "../../helpers/enrich-here.js";
import { HurriedClock } from "../../helpers/hurried-clock.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

/** A dump of the domains with these numbers. */
function dumpOf(numbers: readonly number[]): readonly [string, string] {
  return ["dump.csv", `domain\n${numbers.map((n) => `d${n}.example.com\n`).join("")}`];
}

const [first, second] = [range(0, 30), [...range(27, 33), ...range(0, 24)]];

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, n) => from + n);
}

async function night() {
  const server = await startAnsweringServer();
  const folder = await temporaryFolder();
  const usual = { resume: true, rate: "100000/s", lookups: "query", concurrency: 4 };
  const { url: intelUrl } = server;
  return {
    server,
    folder,
    run: (
      dump: readonly number[],
      own: EnrichHereOptions["settings"] = {},
      more: Partial<EnrichHereOptions> = {},
    ) =>
      enrichHere({
        folder,
        input: dumpOf(dump),
        intelUrl,
        settings: { ...usual, ...own },
        ...more,
      }),
    /** Requests that asked for the same lookup a second time. */
    repeated: () => [...server.asked].filter(([, times]) => times > 1).map(([lookup]) => lookup),
  };
}

/** A run that stopped after 20 of 30 requests. */
async function stopped() {
  const begun = await night();
  const run = begun.run(first, { maxRequests: 20 });
  await expect(run).rejects.toMatchObject({ code: "requests_spent" });
  return begun;
}

describe("a dump that was replaced after its run stopped early", () => {
  test("is enriched without repeating a request, night after night", async () => {
    const { run, repeated, server } = await night();
    let dump = range(0, 100);
    for (const from of [100, 110]) {
      await expect(run(dump, { maxRequests: 40 })).rejects.toMatchObject({
        code: "requests_spent",
      });
      dump = [...range(from, from + 10), ...dump.slice(0, -10).toReversed()];
    }
    const { manifest, records } = await run(dump);
    expect(records().map((row) => row["domain"])).toEqual(dump.map((n) => `d${n}.example.com`));
    expect(repeated()).toEqual([]);
    expect(manifest).toMatchObject({
      took_over: 80,
      resumed: 0,
      statuses: { complete: 100 },
      requests: { query: { total: server.total - 80 } },
    });
  });

  test("takes its answers from the interrupted run, with their times, and says so", async () => {
    const { run } = await stopped();
    const notices: string[] = [];
    const { manifest, records } = await run(second, {}, { onNotice: (text) => notices.push(text) });
    expect(notices.join("\n")).toMatch(/a new run starts[^]*took over 20 answers/);
    expect(manifest.sources).toEqual({ live: 10, cache: 20, duplicate: 0, local: 0 });
    expect(manifest.requests["query"]).toEqual({ total: 10, outcomes: { 200: 10 } });
    const taken = records().filter((row) => row["rep_source"] === "cache");
    expect(taken.map((row) => row["rep_attempts"])).toEqual(taken.map(() => "1"));
    expect(taken.every((row) => row["rep_looked_up_at"]! < manifest.started_at)).toBe(true);
  });

  test("resumes after the take-over as any run", async () => {
    const { run, repeated } = await stopped();
    const again = run(second, { maxRequests: 5 });
    await expect(again).rejects.toMatchObject({ code: "requests_spent" });
    const { manifest } = await run(second);
    expect(manifest).toMatchObject({ took_over: 20, resumed: 1, statuses: { complete: 30 } });
    expect(manifest.sources).toEqual({ live: 10, cache: 20, duplicate: 0, local: 0 });
    expect(repeated()).toEqual([]);
  });
});

describe("other settings", () => {
  test.each([
    ["another prefix", { prefix: "ti_" }],
    ["nested NDJSON", { to: "ndjson" }],
    ["more lookups", { lookups: "query,quick-check" }],
    ["another lookup", { lookups: "quick-check" }],
    ["fewer columns", { columns: "tags" }],
    ["raw answers", { raw: true }],
    ["certain verdicts", { only: "malicious" }],
    ["distinct items", { distinct: true }],
    ["a limit", { limit: 30 }],
    ["reserved addresses", { bogons: "local" }],
    ["shorter URLs", { urlQuery: "strip" }],
  ])("start a new run with the answers: %s", async (_, settings) => {
    const { run, repeated } = await stopped();
    const { manifest } = await run(first, settings);
    expect(manifest).toMatchObject({ took_over: 20, resumed: 0, statuses: { complete: 30 } });
    expect(repeated()).toEqual([]);
  });

  test("take no answer of another service", async () => {
    const { run, server } = await stopped();
    const other = await startAnsweringServer();
    const { manifest } = await run(first, {}, { intelUrl: other.url });
    expect(manifest).toMatchObject({ took_over: 0, sources: { live: 30, cache: 0 } });
    expect([server.total, other.total]).toEqual([20, 30]);
  });
});

describe("a changed exclusion list", () => {
  // The run that stopped has answers for the first 20 names that it may ask for.
  const hidesTwo = "d3.example.com\nd4.example.com\n";
  test.each([
    ["a new one", undefined, hidesTwo, 18, 2],
    ["more entries", "d3.example.com\n", hidesTwo, 19, 2],
    ["fewer entries", hidesTwo, "d3.example.com\n", 20, 1],
    ["other entries", "d25.example.com\n", "d0.example.com\n", 19, 1],
    ["a domain above all", undefined, "example.com\n", 0, 30],
    ["none any more", hidesTwo, undefined, 20, 0],
  ])(
    "starts a new run with the answers that it allows: %s",
    async (_, before, after, taken, held) => {
      const { run, folder, repeated, server } = await night();
      const listing = async (text?: string) => {
        if (text === undefined) return {};
        await writeFile(join(folder, "own.txt"), text);
        return { exclude: [join(folder, "own.txt")] };
      };
      const begun = run(first, { maxRequests: 20, ...(await listing(before)) });
      await expect(begun).rejects.toMatchObject({ code: "requests_spent" });
      const { manifest, records } = await run(first, {
        ...(await listing(after)),
        maxFailed: "100%",
      });
      expect(manifest).toMatchObject({ took_over: taken, resumed: 0 });
      expect(manifest.unsupported["excluded"] ?? 0).toBe(held);
      expect(records()).toHaveLength(30);
      expect(repeated()).toEqual([]);
      expect(server.total).toBe(20 + 30 - held - taken);
    },
  );
});

test.each([
  ["a day", 86_400_000, 20],
  ["29 days", 29 * 86_400_000, 20],
  ["30 days", 30 * 86_400_000, 0],
  // A clock that was wrong.
  ["-31 days", -31 * 86_400_000, 0],
])("takes over answers up to 30 days old: after %s", async (_, ms, taken) => {
  const { run, server } = await stopped();
  const { manifest } = await run(second, {}, { clock: HurriedClock.at(Date.now() + ms) });
  expect(manifest).toMatchObject({ took_over: taken, statuses: { complete: 30 } });
  expect(server.total).toBe(50 - taken);
});

test("asks again for failed lookups, and takes over partial ones", async () => {
  const { run, server } = await night();
  for (const n of [1, 2]) server.absent.add(`d${n}.example.com`);
  server.partial.add("d3.example.com");
  const begun = run(first, { maxRequests: 20, partialRetries: 0 });
  await expect(begun).rejects.toMatchObject({ code: "requests_spent" });
  server.absent.clear();
  const { manifest } = await run(second);
  expect(manifest).toMatchObject({ took_over: 18, statuses: { complete: 29, partial: 1 } });
  expect(server.asked.get("query d3.example.com")).toBe(1);
});

describe("a take-over that is cut off", () => {
  test("by an error in the new dump keeps the answers for the next run", async () => {
    const begun = await stopped();
    const noColumn = { input: ["dump.csv", "a,b\n1,2\n"] } as const;
    await expect(begun.run([], { itemColumn: "domain" }, noColumn)).rejects.toThrow("domain");
    await begun.run(second, { itemColumn: "domain" });
    expect(begun.repeated()).toEqual([]);
  });

  test("by a service that answers nothing but 404 keeps the answers for the next run", async () => {
    const begun = await stopped();
    begun.server.silent.add("query");
    const wrong = begun.run(range(100, 130));
    await expect(wrong).rejects.toMatchObject({ code: "wrong_service" });
    begun.server.silent.clear();
    const { manifest } = await begun.run(second);
    expect(manifest).toMatchObject({ took_over: 20, statuses: { complete: 30 } });
    expect(begun.repeated().filter((lookup) => /d\d?\d\.example/.test(lookup))).toEqual([]);
  });
});

test("a night that is refused keeps the answers for the next one", async () => {
  const { run, repeated, folder } = await night();
  const dump = range(0, 100);
  await expect(run(dump, { maxRequests: 40 })).rejects.toMatchObject({ code: "requests_spent" });
  // An output of an earlier run, and a dump that shrank.
  await writeFile(join(folder, "out.csv"), "");
  const earlier = JSON.stringify({ output: { rows: 100 } });
  await writeFile(join(folder, "out.csv.manifest.json"), earlier);
  const refused = await run(range(50, 60));
  expect(refused.manifest).toMatchObject({ exit_reason: "too_few_rows", took_over: 40 });
  const { manifest } = await run(dump);
  expect(manifest).toMatchObject({ exit_reason: "done", took_over: 40 });
  expect(repeated()).toEqual([]);
});
