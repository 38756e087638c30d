import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  findingStatuses,
  type JsonObject,
  type Verdict,
  verdicts,
} from "../../../src/core/finding.js";
import { type CountedOutput, countOutput } from "../../../src/io/output/verify.js";
import { csvEncoder } from "../../../src/io/formats/csv/csv-writer.js";
import { ndjsonEncoder } from "../../../src/io/formats/ndjson/ndjson.js";
import { bundleEnd, stix } from "../../../src/io/formats/shapes/stix.js";
import { anEnrichedRow } from "../../helpers/enriched-rows.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

const encoderOptions = {
  columns: ["a", "b"],
  prefix: "rep_",
  shape: "flat",
} as const;

/** An answer for each verdict. */
const answers = {
  malicious: { intent: "malicious" },
  suspicious: { intent: "suspicious" },
  listed: { serviceMailBlocklist: "ACTIVE" },
  none: { intent: "none" },
} as const satisfies Readonly<Record<Verdict, JsonObject>>;

describe("countOutput", () => {
  it("counts the rows of a CSV file, whatever its cells contain", async () => {
    const path = join(await temporaryFolder(), "out.csv");
    const encoder = csvEncoder(",", encoderOptions);
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
      fc.asyncProperty(fc.array(row, { maxLength: 20 }), async (rows) => {
        const text =
          encoder.header +
          encoder.encode(
            rows.map(({ cells, status, query, message }) =>
              anEnrichedRow({ cells }, { status, query, error: { code: "timeout", message } }),
            ),
          );
        await writeFile(path, text);
        const counted = await countOutput(path, csv);
        expect(counted.rows).toBe(rows.length);
        for (const status of findingStatuses) {
          expect(counted.statuses?.[status]).toBe(rows.filter((r) => r.status === status).length);
        }
        for (const verdict of verdicts) {
          const found = rows.filter(
            (r) =>
              r.query === answers[verdict] &&
              (verdict !== "none" || r.status === "complete" || r.status === "partial"),
          );
          expect(counted.verdicts?.[verdict]).toBe(found.length);
        }
      }),
      { numRuns: 50 },
    );
  });

  it("counts the same wherever the file is split into chunks", async () => {
    const path = join(await temporaryFolder(), "out.csv");
    const encoder = csvEncoder(",", encoderOptions);
    const cells = ['a ",\n" b', "c"];
    const statuses = ["complete", "failed"] as const;
    const query = answers.suspicious;
    const rows = statuses.map((status) => anEnrichedRow({ cells }, { status, query }));
    const pair = encoder.encode(rows);
    const pairs = Math.ceil((1.25 * 256 * 1024) / pair.length);
    // Each is one byte longer, so that every byte of a row is once the last of a chunk.
    for (let more = 0; more < pair.length; more += 1) {
      const long = anEnrichedRow({ cells: ["x".repeat(more), ""] }, { status: "partial" });
      const text = encoder.header + encoder.encode([long]) + pair.repeat(pairs);
      await writeFile(path, text);
      const counted = await countOutput(path, csv);
      expect(counted).toMatchObject({
        rows: 1 + 2 * pairs,
        statuses: { complete: pairs, failed: pairs, partial: 1 },
        verdicts: { malicious: 0, suspicious: 2 * pairs, listed: 0, none: 0, unknown: 1 },
        sha256: createHash("sha256").update(text).digest("hex"),
      });
    }
  });

  it("hashes the bytes as stored", async () => {
    const path = join(await temporaryFolder(), "out.csv.gz");
    const encoder = csvEncoder(",", encoderOptions);
    const bytes = Buffer.concat([
      gzipSync(encoder.header),
      gzipSync(encoder.encode([anEnrichedRow(), anEnrichedRow()])),
    ]);
    await writeFile(path, bytes);
    expect(await countOutput(path, { ...csv, gzip: true })).toMatchObject({
      rows: 2,
      bytes: bytes.length,
      sha256: createHash("sha256").update(bytes).digest("hex"),
    });
  });

  it("counts NDJSON by the run's member, not by the input's", async () => {
    const path = join(await temporaryFolder(), "out.ndjson");
    const encoder = ndjsonEncoder({ ...encoderOptions, shape: "nested" });
    const json = '{"a":{"status":"complete","verdict":"none"}}';
    const finding = { status: "failed", quickCheck: { intent: "malicious" } } as const;
    await writeFile(path, encoder.encode([anEnrichedRow({ json }, finding)]));
    const counted = await countOutput(path, {
      format: "ndjson",
      gzip: false,
      inputColumns: 2,
      prefix: "rep_",
      shape: "nested",
    });
    expect(counted.statuses).toMatchObject({ complete: 0, failed: 1 });
    expect(counted.verdicts).toMatchObject({ malicious: 1, none: 0 });
  });

  it.each([
    ["a row without a status", "a,b,rep_item,rep_kind,rep_status\n1,2,3,4,\n"],
    [
      "a row with an unknown verdict",
      "a,b,rep_item,rep_kind,rep_status,rep_verdict,rep_type\n1,2,3,4,complete,benign,\n",
    ],
    ["a last line that is cut off", "a,b,rep_item,rep_kind,rep_status\n1,2,3,4,comp"],
    ["a last line that is cut off in empty cells", "a,b,rep_item,rep_kind,rep_status\n,,"],
    ["a last line without its end", "a,b,rep_item,rep_kind,rep_status,rep_type\n1,2,3,4,complete,"],
  ])("refuses %s", async (_, text) => {
    const path = join(await temporaryFolder(), "out.csv");
    await writeFile(path, text);
    await expect(countOutput(path, csv)).rejects.toMatchObject({
      code: "output_corrupt",
      message: expect.stringContaining(`${path}: `) as string,
      hint: expect.any(String) as string,
    });
  });

  it.each([
    ["cut off", (whole: Buffer) => whole.subarray(0, -12)],
    ["damaged", (whole: Buffer) => Buffer.concat([whole.subarray(0, 12), Buffer.alloc(9, 0xff)])],
    ["empty", () => Buffer.alloc(0)],
  ])("refuses gzip data that is %s", async (_, change) => {
    const path = join(await temporaryFolder(), "out.csv.gz");
    await writeFile(path, change(gzipSync("a,b,rep_item,rep_kind,rep_status\n1,2,3,4,complete\n")));
    await expect(countOutput(path, { ...csv, gzip: true })).rejects.toMatchObject({
      code: "output_corrupt",
      message: expect.stringContaining(path) as string,
    });
  });
});

describe("countOutput of a STIX bundle", () => {
  const encoder = stix.write({ ...encoderOptions, columns: ["ip"] });
  const text =
    encoder.header +
    encoder.encode([
      anEnrichedRow({}, { query: { intent: "malicious" } }),
      anEnrichedRow({}, { query: { intent: "none" } }),
      anEnrichedRow({}, { query: { intent: "suspicious" } }, { kind: "ip", value: "192.0.2.2" }),
    ]) +
    bundleEnd;
  const lines = text.split("\n");
  const countsOf = async (changed: string): Promise<CountedOutput> => {
    const path = join(await temporaryFolder(), "out.json");
    await writeFile(path, changed);
    return countOutput(path, { ...csv, format: "stix" });
  };

  it("counts its indicators", async () => {
    expect(await countsOf(text)).toEqual({
      bytes: Buffer.byteLength(text),
      rows: null,
      statuses: null,
      verdicts: null,
      indicators: 2,
      sha256: createHash("sha256").update(text).digest("hex"),
    });
  });

  it.each([
    ["without an end", lines.slice(0, -2).join("\n") + "\n"],
    ["whose last line is cut off", text.slice(0, -1)],
    ["with something behind its end", `${text}{}\n`],
    ["without its head", lines.slice(1).join("\n")],
    ["with an indicator twice", lines.toSpliced(2, 0, lines[2]!).join("\n")],
    ["that lacks a comma", text.replace("},\n{", "}\n{")],
    ["that has a comma too many", text.replace("\n]}", ",\n]}")],
    ["with a line that is cut off", text.replace(lines[2]!, `${lines[2]!.slice(0, -20)},`)],
    ["with another object in it", text.replace('"type":"indicator"', '"type":"malware"')],
    ["of nothing", ""],
  ])("refuses one %s", async (_, changed) => {
    await expect(countsOf(changed)).rejects.toMatchObject({ code: "output_corrupt" });
  });
});

const csv = {
  format: "csv",
  gzip: false,
  inputColumns: 2,
  prefix: "rep_",
  shape: "flat",
} as const;
