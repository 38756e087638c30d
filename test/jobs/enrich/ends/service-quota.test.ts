import { expect, test } from "vitest";
import { startAnsweringServer } from "../../../helpers/answering-server.js";
import { enrichHere } from "../../../helpers/enrich-here.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

const rows = 40;
const names = Array.from({ length: rows }, (_, n) => `d${n}.example.com`);

async function limitedService() {
  const server = await startAnsweringServer();
  const folder = await temporaryFolder();
  const run = (settings: Readonly<Record<string, unknown>> = {}) =>
    enrichHere({
      folder,
      input: ["dump.csv", `domain\n${names.join("\n")}\n`],
      intelUrl: server.url,
      settings: { lookups: "query", concurrency: 4, rate: "100000/s", resume: true, ...settings },
    });
  return { server, run };
}

const inHours = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toUTCString();

const minute = 60_000;

test.each([
  ["429 with seconds", () => "429 Too Many Requests\r\nretry-after: 29241", 29_241_000],
  ["429 with a date", () => `429 Too Many Requests\r\nretry-after: ${inHours(8)}`, 8 * 60 * minute],
  ["503 without a body", () => "503 Service Unavailable\r\nretry-after: 3600", 60 * minute],
  ["500", () => "500 Internal Server Error\r\nretry-after: 901", 901_000],
  ["429 with a reset", () => '429 Too Many Requests\r\nratelimit: "day";r=0;t=7200', 120 * minute],
])("%s for more than 15 minutes ends the run, resumable, with the time", async (_, head, ms) => {
  const { server, run } = await limitedService();
  const used = 25;
  server.limited = (total) => (total > used ? head() : null);
  const before = Date.now();
  // More nights than retries: a quota uses up none of them.
  for (let night = 0; night < 3; night++) {
    const error: unknown = await run({ retries: 1 }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "quota_used_up" });
    const [, time = ""] =
      /^the service's own quota is used up until (\S+Z)$/.exec((error as Error).message) ?? [];
    const late = Date.parse(time) - (before + ms);
    expect(late).toBeGreaterThan(-2_000);
    expect(late).toBeLessThan(2 * minute);
  }
  server.limited = () => null;
  const { manifest, records } = await run();
  expect(manifest).toMatchObject({ statuses: { complete: rows, failed: 0 }, resumed: 3 });
  expect(records().map((row) => row["rep_item"])).toEqual(names);
  const outcomes = manifest.requests["query"]?.outcomes ?? {};
  expect(outcomes["200"]).toBe(rows);
  expect(manifest.requests["query"]?.total).toBe(server.total);
});

test("a shorter one is waited for", async () => {
  const { server, run } = await limitedService();
  server.limited = (total) => (total === 5 ? "429 Too Many Requests\r\nretry-after: 0" : null);
  expect((await run()).manifest).toMatchObject({ statuses: { complete: rows }, resumed: 0 });
});

test("a limit that an answer declares used up for hours ends the run as well", async () => {
  const { server, run } = await limitedService();
  const answerTo = server.answerTo.bind(server);
  let left = 10;
  server.answerTo = (endpoint, item) =>
    answerTo(endpoint, item).replace(
      "\r\n",
      `\r\nratelimit-remaining: ${Math.max(0, --left)}\r\nratelimit-reset: 7200\r\n`,
    );
  await expect(run()).rejects.toMatchObject({ code: "quota_used_up" });
  // What was open is finished.
  expect(server.total).toBeLessThan(20);
  left = Number.POSITIVE_INFINITY;
  const { manifest } = await run();
  expect(manifest).toMatchObject({ statuses: { complete: rows } });
  expect([...server.asked.values()].every((times) => times === 1)).toBe(true);
});
