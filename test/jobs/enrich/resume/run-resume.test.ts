import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { InterruptedError } from "../../../../src/core/errors.js";
import { statePath } from "../../../../src/jobs/enrich/state/state-folder.js";
import { startAnsweringServer } from "../../../helpers/answering-server.js";
import { enrichHere } from "../../../helpers/enrich-here.js";
import { HurriedClock } from "../../../helpers/hurried-clock.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

const records = Array.from({ length: 30 }, (_, n) => ({ n, domain: `d${n}.example.com` }));
const ndjson = records.map((record) => `${JSON.stringify(record)}\n`).join("");

test("a run stopped before its first row resumes without repeating answered requests", async () => {
  const server = await startAnsweringServer();
  const folder = await temporaryFolder();
  const stop = new AbortController();
  // The first item's answer never arrives, and all others wait for it to be written.
  server.onRequest = (total) => {
    if (total === records.length) stop.abort(new InterruptedError("SIGINT"));
    return total !== 1;
  };
  const options = {
    folder,
    input: ["in.ndjson", ndjson],
    output: "out.ndjson",
    intelUrl: server.url,
    settings: {
      lookups: "query",
      rate: "100000/s",
      concurrency: 2,
    },
    clock: new HurriedClock(),
  } as const;
  await expect(enrichHere({ ...options, signal: stop.signal })).rejects.toThrow("SIGINT");
  expect(existsSync(statePath(join(folder, "out.ndjson")))).toBe(true);

  server.onRequest = () => true;
  const settings = { ...options.settings, resume: true };
  const notices: string[] = [];
  const { manifest, text } = await enrichHere({
    ...options,
    settings,
    onNotice: (notice) => notices.push(notice),
  });
  expect(notices).toContain("continuing at row 1");
  expect(text.trimEnd().split("\n")).toHaveLength(records.length);
  expect(manifest).toMatchObject({ resumed: 1, statuses: { complete: records.length } });
  // Two were open when it was stopped.
  expect(server.total).toBeLessThanOrEqual(records.length + 2);
});

test("includes rows added to the input while the run was interrupted", async () => {
  const server = await startAnsweringServer();
  const folder = await temporaryFolder();
  const [half, whole] = [15, 30].map((rows) =>
    records
      .slice(0, rows)
      .map((record) => `${JSON.stringify(record)}\n`)
      .join(""),
  );
  const options = { folder, output: "out.ndjson", intelUrl: server.url } as const;
  const settings = { lookups: "query", rate: "100000/s" };
  const early = { ...settings, maxRequests: 10 };
  await expect(
    enrichHere({ ...options, input: ["in.ndjson", half!], settings: early }),
  ).rejects.toMatchObject({ code: "requests_spent" });
  const { manifest, text } = await enrichHere({
    ...options,
    input: ["in.ndjson", whole!],
    settings: { ...settings, resume: true },
  });
  expect(text.trimEnd().split("\n")).toHaveLength(30);
  expect(manifest).toMatchObject({ input: { grew_while_interrupted: true, rows: 30 }, resumed: 1 });
  expect(server.total).toBe(30);
});
