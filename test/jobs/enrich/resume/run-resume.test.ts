import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { InterruptedError } from "../../../../src/core/errors.js";
import { statePath } from "../../../../src/jobs/enrich/state/state-folder.js";
import { startAnsweringServer } from "../../../helpers/answering-server.js";
import { enrichHere, type EnrichHereOptions } from "../../../helpers/enrich-here.js";
import { HurriedClock } from "../../../helpers/hurried-clock.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

const records = Array.from({ length: 30 }, (_, n) => ({ n, domain: `d${n}.example.com` }));
const dump = (rows: number): EnrichHereOptions["input"] => [
  "in.ndjson",
  records
    .slice(0, rows)
    .map((record) => `${JSON.stringify(record)}\n`)
    .join(""),
];

async function served() {
  const server = await startAnsweringServer();
  const folder = await temporaryFolder();
  const usual = { lookups: "query", rate: "100000/s", concurrency: 2 };
  const run = (rows: number, settings: object, more: Partial<EnrichHereOptions> = {}) =>
    enrichHere({
      folder,
      input: dump(rows),
      output: "out.ndjson",
      intelUrl: server.url,
      settings: { ...usual, ...settings },
      ...more,
    });
  return { server, folder, run };
}

test("a run stopped before its first row resumes without repeating answered requests", async () => {
  const { server, folder, run } = await served();
  const stop = new AbortController();
  const clock = new HurriedClock();
  // The first item's answer never arrives, and all others wait for it to be written.
  server.onRequest = (total) => {
    if (total === records.length) stop.abort(new InterruptedError("SIGINT"));
    return total !== 1;
  };
  await expect(run(30, {}, { clock, signal: stop.signal })).rejects.toThrow("SIGINT");
  expect(existsSync(statePath(join(folder, "out.ndjson")))).toBe(true);

  server.onRequest = () => true;
  const notices: string[] = [];
  const onNotice = (notice: string) => void notices.push(notice);
  const { manifest, text } = await run(30, { resume: true }, { clock, onNotice });
  expect(notices).toContain("continuing at row 1");
  expect(text.trimEnd().split("\n")).toHaveLength(records.length);
  expect(manifest).toMatchObject({ resumed: 1, statuses: { complete: records.length } });
  // Two were open when it was stopped.
  expect(server.total).toBeLessThanOrEqual(records.length + 2);
});

test("includes rows added to the input while the run was interrupted", async () => {
  const { server, run } = await served();
  await expect(run(15, { maxRequests: 10 })).rejects.toMatchObject({ code: "requests_spent" });
  const { manifest, text } = await run(30, { resume: true });
  expect(text.trimEnd().split("\n")).toHaveLength(30);
  expect(manifest).toMatchObject({ input: { grew_while_interrupted: true, rows: 30 }, resumed: 1 });
  expect(server.total).toBe(30);
});
