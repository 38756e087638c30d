import { readFile, writeFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { type Finding, unasked } from "../../../src/core/finding.js";
import { enrich } from "../../../src/jobs/enrich/execute.js";
import { isNoWorse, retryOutput } from "../../../src/jobs/retry/retry-output.js";
import type { Manifest } from "../../../src/core/manifest.js";
import { parseOutput } from "../../../src/io/output/registry.js";
import { verifyOutput } from "../../../src/jobs/verify/verify-output.js";
import { startAnsweringServer } from "../../helpers/answering-server.js";
import { jobHere } from "../../helpers/job-here.js";
import { workspace } from "../../helpers/workspace.js";

const csvInput =
  'n,domain,note\n1,a.example.com,"x, ""y""\nz"\n2,gone.example.com,=1\n3,setup.exe,\n4,part.example.com,é\n5,a.example.com,surplus,more\n6,bad.example.com,\n';
const ndjsonInput =
  '{"n":12345678901234567890, "domain":"a.example.com"}\n{"domain":"gone.example.com","f":1.0}\n{broken\n{"domain":"part.example.com"}\n{"domain":"bad.example.com"}\n';

const csv = { output: "out.csv", input: csvInput, from: "csv", flags: {} } as const;
const ndjson = { output: "out.ndjson", input: ndjsonInput, from: "ndjson", flags: {} } as const;

const forms = [
  csv,
  ndjson,
  { output: "out.tsv.gz", input: csvInput, from: "csv", flags: {} },
  { output: "out.flat.ndjson", input: ndjsonInput, from: "ndjson", flags: { shape: "flat" } },
  { output: "out.from-csv.ndjson.gz", input: csvInput, from: "csv", flags: {} },
  { output: "out.prefixed.csv", input: csvInput, from: "csv", flags: { prefix: "x_" } },
] as const;

describe("a retry", () => {
  it.each([
    ...forms.map((form) => [form.output, `again.${form.output}`, form] as const),
    [csv.output, csv.output, csv] as const,
    [ndjson.output, ndjson.output, ndjson] as const,
  ])(
    "of %s to %s fills failed and partial rows and copies every other row verbatim",
    async (_, to, form) => {
      const { from, flags } = form;
      const { at, server, job, first } = await enriched(form, ["gone.example.com"]);
      const before = await linesOf(first);
      const earlier = JSON.parse(await readFile(`${first}.manifest.json`, "utf8")) as Manifest;
      const { run_id, output } = earlier;

      server.absent.clear();
      server.partial.clear();
      const second = at(to);
      const manifest = await retryOutput(job({ path: first }, second, flags));

      const broken = from === "ndjson" ? 1 : 0;
      expect(manifest).toMatchObject({ run_id, output: { path: second, rows: output.rows } });
      expect(manifest.statuses.partial + manifest.statuses.failed).toBe(broken);
      expect(manifest.requests["query"]?.total).toBe(2);
      expect(manifest.retried).toEqual({
        failed: from === "ndjson" ? { complete: 1, failed: 1 } : { complete: 1 },
        partial: { complete: 1 },
      });
      const prefix = "prefix" in flags ? flags.prefix : "rep_";
      expect((await verifyOutput(parseOutput(second), prefix)).differences).toEqual([]);
      expect(manifest.verdicts).toMatchObject({ malicious: 1, none: 4 - broken });
      const after = await linesOf(second);
      const changed = after.filter((line, n) => line !== before[n]);
      expect(after).toHaveLength(before.length);
      expect(changed.every((line) => /gone|part/.test(line))).toBe(true);
      expect(changed).toHaveLength(2);
    },
  );

  it.each([csv, ndjson])("keeps a row of $output that does not improve", async (form) => {
    const { at, server, job, first } = await enriched(form, []);
    server.absent.add("part.example.com");
    const second = at(`again.${form.output}`);
    await retryOutput(job({ path: first }, second, {}));
    expect(await linesOf(second)).toEqual(await linesOf(first));
  });
});

it("keeps the query's answer of a failed row if only the quick check answers again", async () => {
  const { at, input, server, job } = await prepared("domain\na.example.com\n");
  server.silent.add("quick-check");
  const first = at("out.csv");
  const both = { itemColumn: "domain", lookups: "query,quick-check" };
  const before = await enrich(job(input, first, both));
  expect(before).toMatchObject({ statuses: { failed: 1 }, verdicts: { unknown: 1 } });
  server.silent.clear();
  server.silent.add("query");
  const second = at("again.csv");
  const after = await retryOutput(job({ path: first }, second, both));
  expect(after).toMatchObject({ statuses: { failed: 1 }, verdicts: { unknown: 1 } });
  expect(await linesOf(second)).toEqual(await linesOf(first));
});

it.each([
  ["query", "quick-check", "out.csv"],
  ["quick-check", "query", "out.csv"],
  ["quick-check", "query", "out.ndjson"],
])("retries the %s and keeps the answer of the %s in %s", async (failed, _, name) => {
  const { at, input, server, job } = await prepared("domain\nbad.example.com\n");
  const both = { itemColumn: "domain", lookups: "query,quick-check" };
  const whole = at(`whole.${name}`);
  await enrich(job(input, whole, both));
  server.silent.add(failed);
  const first = at(name);
  expect(await enrich(job(input, first, both))).toMatchObject({ statuses: { failed: 1 } });
  server.silent.clear();
  const second = at(`again.${name}`);
  const after = await retryOutput(job({ path: first }, second, { lookups: failed }));
  expect(after).toMatchObject({ statuses: { complete: 1 }, verdicts: { malicious: 1 } });
  const untimed = (lines: string[]): string[] =>
    lines.map((line) => line.replace(/200,(?:"\w+":)?\d+,(?:"\w+":)?"?20[^,}]*/, ""));
  expect(untimed(await linesOf(second))).toEqual(untimed(await linesOf(whole)));
});

it("keeps the quick check's answer beside a query that is answered in part", async () => {
  const { at, input, server, job } = await prepared("domain\nbad.example.com\n");
  server.silent.add("query");
  const both = { itemColumn: "domain", lookups: "query,quick-check" };
  const first = at("out.csv");
  await enrich(job(input, first, both));
  server.silent.clear();
  server.partial.add("bad.example.com");
  const settings = { lookups: "query", partialRetries: 0 };
  const after = await retryOutput(job({ path: first }, at("again.csv"), settings));
  expect(after).toMatchObject({ statuses: { partial: 1 } });
});

it("refuses a row with an unknown verdict", async () => {
  const { at, input, job } = await prepared("domain\nbad.example.com\n");
  const first = at("out.csv");
  await enrich(job(input, first, { itemColumn: "domain" }));
  const text = await readFile(first, "utf8");
  await writeFile(first, text.replace("complete,malicious", "complete,benign"));
  await expect(retryOutput(job({ path: first }, at("again.csv"), {}))).rejects.toMatchObject({
    code: "output_corrupt",
    message: expect.stringContaining("line 2"),
  });
});

/** A folder with an input, and a service that answers. */
async function prepared(text: string, name = "in.csv") {
  const server = await startAnsweringServer();
  const { at } = await workspace({ [name]: text });
  const usual = { intelUrl: server.url, lookups: "query", retries: 0, partialRetries: 0 };
  return {
    at,
    input: { path: at(name) },
    server,
    job: (from: { path: string }, output: string, settings: object) =>
      jobHere({ settings: { ...usual, output, ...settings }, input: from }),
  };
}

/** A first output, in which one row is partial and those of `absent` items failed. */
async function enriched(
  { output, input: text, from, flags }: (typeof forms)[number],
  absent: readonly string[],
) {
  const place = await prepared(text, `in.${from}`);
  const { at, input, job, server } = place;
  for (const item of absent) server.absent.add(item);
  server.partial.add("part.example.com");
  const first = at(output);
  await enrich(job(input, first, { from, itemColumn: "domain", ...flags }));
  return { ...place, first };
}

async function linesOf(path: string): Promise<string[]> {
  const bytes = await readFile(path);
  const text = (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString();
  return text.trimEnd().split("\n");
}

const clean = { query: { result: { intent: "none" } } };
const bad = { "quick-check": { result: { intent: "malicious" } } };
const unclear = { query: { result: { intent: null } }, "quick-check": { result: {} } };
const both = { ...clean, ...bad };

function of(
  status: Finding["status"],
  answers: Finding["answers"] = {},
  missing: readonly string[] = [],
): Finding {
  return { ...unasked(status, null), answers, missing };
}

it.each([
  ["the same verdict", of("failed", clean), of("complete", clean), true],
  ["both lookups", of("failed", bad), of("complete", both), true],
  ["only the other lookup, failed", of("failed", clean), of("failed", bad), false],
  ["no answer", of("failed", clean), of("failed"), false],
  ["as little as before", of("failed"), of("failed"), true],
  ["that it is refused", of("failed", bad), of("invalid"), true],
  ["less of the query", of("failed", clean), of("partial", both, ["asn"]), false],
  ["as much in part", of("partial", both, ["asn"]), of("partial", both, ["tags"]), true],
  ["less in part", of("partial", both, []), of("partial", both, ["tags"]), false],
  ["a failure", of("partial", both), of("failed", both), false],
  ["no verdict any more", of("failed", bad), of("partial", unclear, ["intent"]), false],
])("an answer that tells %s", (_, earlier, now, expected) => {
  expect(isNoWorse(earlier, now)).toBe(expected);
});
