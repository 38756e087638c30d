import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, test, vi } from "vitest";
import type { LookupEndpoint, Finding } from "../../../src/core/finding.js";
import { ResourceStack } from "../../../src/core/resource-stack.js";
import { countInBackground, countLookups } from "../../../src/jobs/enrich/run-progress.js";
import { Withheld } from "../../../src/client/lookup/withheld.js";
import { readingOf } from "../../../src/jobs/enrich/rows/reading.js";
import { cacheKeys } from "../../../src/client/store/cache-key.js";
import { MemoryStore } from "../../../src/client/store/store.js";
import { aFinding } from "../../helpers/enriched-rows.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import { type JobHere, jobHere } from "../../helpers/job-here.js";

const items = ["a.example.com", "A.example.com.", "b.example.com", "10.0.0.1", "setup.exe", ""];

const withholding = (bogons: "ask" | "local") =>
  new Withheld({ bogons, urlQuery: "keep", lists: [] });

const startedAt = "2026-01-01T00:00:00.000Z";

async function inputFile(): Promise<string> {
  const path = join(await temporaryFolder(), "in.csv");
  await writeFile(path, `item,note\n${items.map((item) => `${item},`).join("\n")}\n`);
  return path;
}

async function counted(
  options: Partial<Parameters<typeof countLookups>[1]> = {},
): Promise<number | null> {
  return countLookups(
    { rows: readingOf({ path: await inputFile() }, {}) },
    {
      endpoints: ["query", "quick-check"],
      withheld: withholding("ask"),
      startedAt,
      signal: new AbortController().signal,
      ...options,
    },
  );
}

/** A cache with one answer to a query. */
async function cacheWith(members: Partial<Finding>) {
  const store = new MemoryStore<Finding>();
  const key = cacheKeys("here", "query")({ kind: "domain", value: "a.example.com" });
  await store.put(key, aFinding({ lookedUpAt: "2025-12-31T00:00:00.000Z", ...members }));
  return { address: "here", store };
}

describe("lookups", () => {
  test("counts each item once per endpoint", async () => {
    expect(await counted()).toBe(6);
    expect(await counted({ endpoints: ["query"] })).toBe(3);
  });

  test("leaves out addresses that are answered locally", async () => {
    expect(await counted({ withheld: withholding("local") })).toBe(4);
  });

  test("leaves out cached answers", async () => {
    expect(await counted({ cache: await cacheWith({}) })).toBe(5);
  });

  test("includes the answers that the run itself has cached", async () => {
    expect(await counted({ cache: await cacheWith({ lookedUpAt: startedAt }) })).toBe(6);
  });

  test("includes cached partial answers if the run does not use them", async () => {
    const cache = await cacheWith({ status: "partial" });
    expect(await counted({ cache })).toBe(5);
    expect(await counted({ cache: { ...cache, partials: false } })).toBe(6);
  });
});

describe("in the background", () => {
  async function inBackground(job: Partial<JobHere>, perSecond: number, isCounted = false) {
    const path = await inputFile();
    const whole = jobHere({
      settings: {},
      input: { path },
      onStart: () => undefined,
      ...job,
    });
    const endpoints: readonly LookupEndpoint[] = ["query"];
    const options = { endpoints, withheld: withholding("ask"), startedAt, perSecond } as const;
    const stack = new ResourceStack();
    const planned = countInBackground({ ...whole, rows: readingOf({ path }, {}) }, options, stack);
    const before = planned();
    if (isCounted) {
      await vi.waitUntil(() => planned() !== null, { timeout: 20_000, interval: 1 });
    }
    await stack.close();
    return [before, planned()];
  }

  test("the number is unknown until it is counted", async () => {
    expect(await inBackground({}, 100, true)).toEqual([null, 3]);
  });

  test.each<[string, Partial<JobHere>, number]>([
    ["a fast run", {}, 1000],
    ["a run without a rate", {}, Number.POSITIVE_INFINITY],
    ["a stream", { input: { stream: new PassThrough(), name: "stdin" } }, 100],
    ["a folder", { input: { path: "/" } }, 100],
    ["a missing file", { input: { path: "/nowhere/in.csv" } }, 100],
  ])("nothing is counted for %s", async (_name, job, perSecond) => {
    expect(await inBackground(job, perSecond)).toEqual([null, null]);
  });
});
