import { describe, expect, it } from "vitest";
import { columns } from "../../../../src/core/columns.js";
import { lookupEndpoints, memberOf } from "../../../../src/core/finding.js";
import { csvOutput } from "../../../../src/io/formats/csv/csv-output.js";
import {
  ndjsonEncoder,
  ndjsonRecords,
  memberNames,
} from "../../../../src/io/formats/ndjson/ndjson-output.js";
import type { EnrichedRow } from "../../../../src/core/row.js";
import type { EncoderOptions, OutputRecord } from "../../../../src/io/formats/types.js";
import { anEnrichedRow } from "../../../helpers/enriched-rows.js";
import { ipResult } from "../../../client/api/answers.js";

const base: EncoderOptions = { columns: ["ip"], prefix: "rep_", shape: "nested" };

describe("ndjsonEncoder", () => {
  it("adds one member with everything as received", () => {
    const query = { ...ipResult(), unknownMember: { a: [1] } };
    const row = anEnrichedRow({}, { query, quickCheck: { item: "192.0.2.1", activity: true } });
    expect(JSON.parse(lineOf(row))).toEqual({
      ip: "192.0.2.1",
      rep: {
        item: "192.0.2.1",
        kind: "ip",
        status: "complete",
        verdict: "malicious",
        missing: [],
        ...Object.fromEntries(lookupEndpoints.map((endpoint) => [memberOf(endpoint), null])),
        query,
        quick_check: { item: "192.0.2.1", activity: true },
        source: "live",
        http_status: 200,
        attempts: 1,
        looked_up_at: "2026-01-02T03:04:05.000Z",
        error: null,
      },
    });
  });

  it.each([
    ['{ "ip":"192.0.2.1", "n":12345678901234567890, "f":1.0, "ip":"twice" }', '"twice",'],
    ["{}", "{"],
  ])("copies the text of a record: %s", (json, end) => {
    const line = lineOf(anEnrichedRow({ json }));
    expect(line.startsWith(`{${json.slice(1, -1).trim()}`)).toBe(true);
    expect(line).toContain(`${end}"rep":{`);
  });

  it("moves a later record's clashing member to extra", () => {
    const [own, mine] = ['"ip":"192.0.2.1","n":12345678901234567890', '"rep":{"mine":1e400}'];
    const line = lineOf(anEnrichedRow({ json: `{${mine},${own}}` }));
    expect(line.startsWith(`{${own},"rep":{`)).toBe(true);
    expect(JSON.parse(line)).toMatchObject({ rep: { status: "complete" } });
    expect(line).toContain(`"extra":{${mine}}`);
  });

  it("rejects an input with a column of the added name", () => {
    expect(() => ndjsonEncoder({ ...base, columns: ["ip", "rep"] })).toThrow(/rep/);
  });

  it("keeps an invalid line, and the surplus cells of a CSV row, in extra", () => {
    const fault = { code: "input_row", message: "line 3 is not a JSON object" } as const;
    const finding = { status: "failed", error: fault, lookedUpAt: null } as const;
    const row = anEnrichedRow({ fault, extra: '"{broken"', cells: [""] }, finding, null);
    expect(JSON.parse(lineOf(row))).toMatchObject({
      rep: { status: "failed", error: fault, extra: "{broken", source: null },
    });
    expect(JSON.parse(lineOf(anEnrichedRow({ extra: '["x"]' })))).toMatchObject({
      rep: { extra: ["x"] },
    });
  });

  it("writes columns as members and lists as arrays when flat", () => {
    const row = anEnrichedRow({}, { query: ipResult() });
    expect(JSON.parse(lineOf(row, { shape: "flat" }))).toMatchObject({
      ip: "192.0.2.1",
      rep_tags: ["credentials:brute-force", "scanner:web"],
      rep_bogon: false,
      rep_honeypot_observations: 1,
      rep_error: null,
    });
  });
});

it("memberNames names empty columns by position and numbers repeated ones", () => {
  expect(memberNames(["a", "", "a", "", "column_2"])).toEqual([
    "a",
    "column_2_2",
    "a_2",
    "column_4",
    "column_2",
  ]);
});

it("a nested row that is read back has each column as a flat row has it", () => {
  const row = anEnrichedRow(
    {},
    { query: ipResult(), quickCheck: { intent: "none", bogon: false } },
  );
  const text = lineOf(row);
  const nested = ndjsonRecords.layout(text, "rep_")!.read(text)!;
  const encoder = csvOutput(",").write({ ...base, shape: "flat" });
  const flat = csvOutput(",")
    .records.layout(encoder.header, "rep_")!
    .read(encoder.encode([row]))!;
  const valuesOf = (record: OutputRecord) =>
    columns.map(({ name, type }) => [
      name,
      type === "text[]" ? record.list(name) : record.text(name),
    ]);
  expect(valuesOf(nested)).toEqual(valuesOf(flat));
});

it.each(["nested", "flat"] as const)("reads a tag that contains | as several (%s)", (shape) => {
  const tagged = anEnrichedRow({}, { query: { ...ipResult(), tags: ["=cmd|x", "a:b"] } });
  const text = lineOf(tagged, { shape });
  const record = ndjsonRecords.layout(text, "rep_")?.read(text);
  expect(record?.list("tags")).toEqual(["=cmd", "x", "a:b"]);
});

function lineOf(row: EnrichedRow, options: Partial<EncoderOptions> = {}): string {
  return ndjsonEncoder({ ...base, ...options }).encode([row]);
}
