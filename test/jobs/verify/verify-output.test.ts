import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, it } from "vitest";
import { schemaVersion } from "../../../src/core/columns.js";
import { manifestPath } from "../../../src/core/files/output-names.js";
import { countedVerdicts, findingStatuses, type Verdict } from "../../../src/core/finding.js";
import { verdictOf } from "../../../src/core/verdict.js";
import { formats } from "../../../src/io/formats/registry.js";
import { parseOutput } from "../../../src/io/output/registry.js";
import { verifyOutput } from "../../../src/jobs/verify/verify-output.js";
import { anEnrichedRow } from "../../helpers/enriched-rows.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

const columns = ["a", "b"];

/** An answer for each verdict. */
const answers: Readonly<Record<Verdict, object>> = {
  malicious: { intent: "malicious" },
  suspicious: { intent: "suspicious" },
  listed: { serviceMailBlocklist: "ACTIVE" },
  none: { intent: "none" },
};

const noCounts = {
  rows: 0,
  statuses: { complete: 0, partial: 0, invalid: 0, unsupported: 0, failed: 0 },
  verdicts: { malicious: 0, suspicious: 0, listed: 0, none: 0, unknown: 0 },
};

/** Writes an output with its manifest, changes it, and verifies it. */
async function verified(
  { format, gzip = false }: { readonly format: string; readonly gzip?: boolean },
  text: string | Buffer,
  {
    counts = noCounts,
    stored = text,
    version = schemaVersion,
  }: { counts?: typeof noCounts; stored?: string | Buffer; version?: number } = {},
) {
  const path = join(await temporaryFolder(), `out.${format}${gzip ? ".gz" : ""}`);
  const { rows, statuses, verdicts } = counts;
  const sha256 = createHash("sha256").update(text).digest("hex");
  const bytes = Buffer.byteLength(text);
  const output = { path, format, bytes, sha256, rows };
  const manifest = { schema_version: version, run_id: "x", output, statuses, verdicts };
  await writeFile(path, stored);
  await writeFile(manifestPath(path), JSON.stringify(manifest));
  return verifyOutput(parseOutput(path), "rep_");
}

it.each([
  ["csv", "flat", false],
  ["csv", "flat", true],
  ["ndjson", "nested", false],
  ["ndjson", "flat", false],
] as const)("counts rows by status and verdict: %s, %s, gzip %s", async (format, shape, gzip) => {
  const encoder = formats[format].write({ columns, prefix: "rep_", shape });
  const row = fc.record({
    cells: fc.tuple(
      fc.string({ unit: fc.constantFrom('"', ",", "\n", "\r", "a", "") }),
      fc.string(),
    ),
    status: fc.constantFrom(...findingStatuses),
    query: fc.constantFrom(null, ...Object.values(answers)),
    message: fc.string({ unit: fc.constantFrom('"', ",", "\n", "a", "é") }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 20 }), async (facts) => {
      const rows = facts.map(({ cells, status, query, message }) =>
        anEnrichedRow(
          { cells },
          { status, query: query && { type: "IP", ...query }, error: { code: "timeout", message } },
        ),
      );
      const counts = { ...structuredClone(noCounts), rows: rows.length };
      for (const { finding } of rows) {
        counts.statuses[finding.status] += 1;
        counts.verdicts[verdictOf(finding) ?? "unknown"] += 1;
      }
      const text = encoder.header + encoder.encode(rows);
      const written = gzip ? gzipSync(text) : text;
      const { audit, differences } = await verified({ format, gzip }, written, { counts });
      expect(differences).toEqual([]);
      expect(audit).toMatchObject({ ...counts, bytes: Buffer.byteLength(written) });
      const { finding } = rows[0]!;
      const verdict = verdictOf(finding);
      counts.rows -= 1;
      counts.statuses[finding.status] -= 1;
      counts.verdicts[verdict ?? "unknown"] -= 1;
      const { differences: found } = await verified({ format, gzip }, written, { counts });
      const named = ["rows", `rows ${finding.status}`, ...(verdict ? [`verdict ${verdict}`] : [])];
      expect(found.map((line) => line.split(":", 1)[0])).toEqual(named);
    }),
    { numRuns: 25 },
  );
});

it("counts NDJSON by the run's member, not by the input's", async () => {
  const encoder = formats.ndjson.write({ columns, prefix: "rep_", shape: "nested" });
  const json = '{"a":{"status":"complete","verdict":"none"}}';
  const finding = { status: "failed", quickCheck: { intent: "malicious" } } as const;
  const text = encoder.encode([anEnrichedRow({ json }, finding)]);
  const { audit } = await verified({ format: "ndjson" }, text);
  expect(audit.statuses).toMatchObject({ complete: 0, failed: 1 });
  expect(audit.verdicts).toMatchObject({ malicious: 1, none: 0 });
});

it("knows a shape that cannot be read back by its checksum", async () => {
  const encoder = formats["es-bulk"].write({ columns, prefix: "rep_", shape: "nested" });
  const text = encoder.encode([anEnrichedRow(), anEnrichedRow()]);
  expect((await verified({ format: "es-bulk" }, text)).differences).toEqual([]);
  const { differences } = await verified({ format: "es-bulk" }, text, {
    stored: text.slice(0, -3),
  });
  expect(differences.map((line) => line.split(":", 1)[0])).toEqual(["bytes", "sha256"]);
});

const header = "a,b,rep_item,rep_kind,rep_status,rep_verdict,rep_type\n";

it.each([
  ["a row without a status", `${header}1,2,3,4,,,\n`],
  ["a row with an unknown verdict", `${header}1,2,3,4,complete,benign,\n`],
  ["a last line that is cut off", `${header}1,2,3,4,comp`],
  ["a last line that is cut off in empty cells", `${header},,`],
  ["a last line without its end", `${header}1,2,3,4,complete,,`],
])("refuses %s", async (_, text) => {
  await expect(verified({ format: "csv" }, text)).rejects.toMatchObject({
    code: "output_corrupt",
  });
});

it.each([
  ["cut off", (whole: Buffer) => whole.subarray(0, -12)],
  ["damaged", (whole: Buffer) => Buffer.concat([whole.subarray(0, 12), Buffer.alloc(9, 0xff)])],
  ["empty", () => Buffer.alloc(0)],
])("refuses gzip data that is %s", async (_, change) => {
  const whole = gzipSync(`${header}1,2,3,4,complete,,\n`);
  await expect(
    verified({ format: "csv", gzip: true }, whole, { stored: change(whole) }),
  ).rejects.toMatchObject({ hint: expect.any(String) as string });
});

it("reports a missing manifest", async () => {
  const path = join(await temporaryFolder(), "out.csv");
  await writeFile(path, "");
  const missing = { code: "manifest_missing" };
  await expect(verifyOutput(parseOutput(path), "rep_")).rejects.toMatchObject(missing);
});

it.each([1, 99])("refuses an output of schema version %i", async (version) => {
  const text = `${header}1,2,3,4,complete,,\n`;
  await expect(verified({ format: "csv" }, text, { version })).rejects.toMatchObject({
    message: expect.stringContaining(
      `has schema version ${version}; this version of repute reads ${schemaVersion}`,
    ),
    hint: expect.stringContaining("or run enrich on the input again"),
  });
});

it("counts every verdict", () => {
  expect(Object.keys(noCounts.verdicts)).toEqual(countedVerdicts);
});
