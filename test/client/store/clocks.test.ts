import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock, type Clock } from "../../../src/core/clock.js";
import { startAnsweringServer } from "../../helpers/answering-server.js";
import { enrichHere } from "../../helpers/enrich-here.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import { column } from "../../helpers/workspace.js";

const hour = 3_600_000;

/**
 * Runs at different times of day over the same two domains, the second of which gets a partial
 * answer.
 */
async function nights() {
  const server = await startAnsweringServer();
  server.partial.add("part.example.com");
  const folder = await temporaryFolder();
  const start = Date.now();
  let runs = 0;
  const at = async (offset: number, settings: Readonly<Record<string, unknown>> = {}) => {
    const before = server.total;
    const clock: Clock = { ...systemClock, now: () => start + offset };
    const { records } = await enrichHere({
      folder,
      input: ["in.csv", "domain\nfull.example.com\npart.example.com\n"],
      output: `out.${++runs}.csv`,
      intelUrl: server.url,
      settings: { lookups: "query", partialRetries: 0, cache: join(folder, "cache"), ...settings },
      clock,
    });
    return {
      requests: server.total - before,
      rows: records().map((record) => `${record["rep_status"]} ${record["rep_source"]}`),
    };
  };
  return { at, server };
}

test("uses a cached partial answer for an hour, a full one for a day", async () => {
  const { at } = await nights();
  expect(await at(0)).toEqual({ requests: 2, rows: ["complete live", "partial live"] });
  expect(await at(hour - 1)).toEqual({ requests: 0, rows: ["complete cache", "partial cache"] });
  expect(await at(hour)).toEqual({ requests: 1, rows: ["complete cache", "partial live"] });
  expect(await at(24 * hour)).toEqual({ requests: 2, rows: ["complete live", "partial live"] });
});

test("--cache-ttl extends both", async () => {
  const { at } = await nights();
  await at(0);
  const week = { cacheTtl: "7d" };
  expect(await at(7 * hour - 1, week)).toMatchObject({ requests: 0 });
  expect(await at(7 * hour, week)).toMatchObject({ requests: 1 });
  expect(await at(24 * hour, week)).toMatchObject({ rows: ["complete cache", "partial live"] });
});

test.each([
  ["", {}],
  [" with a quota", { rate: "2000/d" }],
])("completes although the wall clock keeps jumping back%s", async (_, settings) => {
  const server = await startAnsweringServer();
  const names = Array.from({ length: 500 }, (_, n) => `host-${n % 450}.example.com`);
  let wall = Date.UTC(2026, 0, 1);
  const { manifest, records } = await enrichHere({
    input: ["in.csv", column("domain", names)],
    intelUrl: server.url,
    settings,
    clock: { ...systemClock, now: () => (wall -= 60_000) },
  });
  expect(manifest.statuses.complete).toBe(500);
  expect(manifest.sources["duplicate"]).toBe(50);
  expect(manifest.seconds).toBeGreaterThanOrEqual(0);
  expect(records()).toHaveLength(500);
});
