import { existsSync, mkdirSync } from "node:fs";
import { readFile, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { InterruptedError } from "../../src/core/errors.js";
import { partPath } from "../../src/outputs/file-destination.js";
import { statePath } from "../../src/run/state/state-folder.js";
import { startAnsweringServer } from "../helpers/answering-server.js";
import type { AnsweringServer } from "../helpers/answering-server.js";
import { enrichHere } from "../helpers/enrich-here.js";
import { HurriedClock } from "../helpers/hurried-clock.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";

const records = Array.from({ length: 30 }, (_, n) => ({ n, domain: `d${n}.example.com` }));
const ndjson = records.map((record) => `${JSON.stringify(record)}\n`).join("");

async function serving(): Promise<AnsweringServer> {
  const server = await startAnsweringServer();
  onTestFinished(() => server.close());
  return server;
}

test("a run stopped before its first row resumes without repeating answered requests", async () => {
  const server = await serving();
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
      rejects: join(folder, "left.ndjson"),
    },
    clock: new HurriedClock(),
  } as const;
  await expect(enrichHere({ ...options, signal: stop.signal })).rejects.toThrow("SIGINT");
  expect(existsSync(statePath(join(folder, "out.ndjson")))).toBe(true);

  server.onRequest = () => true;
  const settings = { ...options.settings, resume: true };
  let settledBefore = 0;
  const notices: string[] = [];
  const { manifest, text } = await enrichHere({
    ...options,
    settings,
    onStart: (progress) => (settledBefore = progress().lookups.settled),
    onNotice: (notice) => notices.push(notice),
  });
  expect(notices).toContain("continuing at row 1");
  expect(settledBefore).toBeGreaterThanOrEqual(records.length - 2);
  expect(text.trimEnd().split("\n")).toHaveLength(records.length);
  expect(manifest).toMatchObject({ resumed: 1, statuses: { complete: records.length } });
  // Two were open when it was stopped.
  expect(server.total).toBeLessThanOrEqual(records.length + 2);
});

test("keeps the rows before the point where the input broke off", async () => {
  const server = await serving();
  const folder = await temporaryFolder();
  const rows = Array.from({ length: 2_000 }, (_, n) => `${n},d${n % 50}.example.com\n`).join("");
  const run = enrichHere({
    folder,
    input: ["in.csv", `n,domain\n${rows}2000,"never closed\n`],
    intelUrl: server.url,
    settings: { lookups: "query", rate: "100000/s" },
  });
  await expect(run).rejects.toMatchObject({
    code: "input_quote",
    message: expect.stringContaining("line 2002 of") as string,
  });
  const part = await readFile(partPath(join(folder, "out.csv")), "utf8");
  expect(part).toMatch(/^n,domain,rep_item,[^\n]*\n/);
  expect(existsSync(join(folder, "out.csv"))).toBe(false);
  expect(existsSync(statePath(join(folder, "out.csv")))).toBe(true);
});

test("includes rows added to the input while the run was interrupted", async () => {
  const server = await serving();
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

test("completes a run killed between renaming its two files", async () => {
  const server = await serving();
  const folder = await temporaryFolder();
  const [out, left] = [join(folder, "out.csv"), join(folder, "left.csv")];
  const options = {
    folder,
    input: ["in.csv", "n,domain\n1,a.example.com\n2,setup.exe\n"],
    intelUrl: server.url,
    settings: { lookups: "query", rejects: left },
  } as const;
  // A folder created during the run in place of the output prevents the rename.
  server.onRequest = () => {
    mkdirSync(out);
    return true;
  };
  await expect(enrichHere(options)).rejects.toMatchObject({ code: "output_is_directory" });
  expect(existsSync(left)).toBe(true);

  await rmdir(out);
  const settings = { ...options.settings, resume: true };
  const { manifest } = await enrichHere({ ...options, settings });
  expect(manifest.output.rows).toBe(2);
  expect(await readFile(left, "utf8")).toMatch(
    /^n,domain,[^\n]*\n2,setup\.exe,file_name,[^\n]*\n$/,
  );
});
