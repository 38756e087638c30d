import { expect, it, test } from "vitest";
import { columns } from "../../../../src/core/columns.js";
import { csvRecords } from "../../../../src/io/formats/csv/csv-records.js";
import { csvEncoder } from "../../../../src/io/formats/csv/csv-writer.js";
import { ndjsonRecords } from "../../../../src/io/formats/ndjson/ndjson-output.js";
import { ndjsonEncoder } from "../../../../src/io/formats/ndjson/ndjson.js";
import type { OutputRecord } from "../../../../src/io/formats/types.js";
import { anEnrichedRow, fullIpResult } from "../../../helpers/enriched-rows.js";

const options = { columns: ["ip"], prefix: "rep_" } as const;
const row = anEnrichedRow(
  {},
  { query: fullIpResult, quickCheck: { intent: "none", bogon: false } },
);

test("a nested row that is read back has each column as a flat row has it", () => {
  const text = ndjsonEncoder({ ...options, shape: "nested" }).encode([row]);
  const nested = ndjsonRecords.layout(text, "rep_")!.read(text)!;
  const encoder = csvEncoder(",", { ...options, shape: "flat" });
  const flat = csvRecords(",")
    .layout(encoder.header, "rep_")!
    .read(encoder.encode([row]))!;
  const valuesOf = (record: OutputRecord) =>
    columns.map(({ name, type }) => [
      name,
      type === "text[]" ? record.list(name) : record.text(name),
    ]);
  expect(valuesOf(nested)).toEqual(valuesOf(flat));
});

it.each(["nested", "flat"] as const)("reads a tag that contains | as several (%s)", (shape) => {
  const tagged = anEnrichedRow({}, { query: { ...fullIpResult, tags: ["=cmd|x", "a:b"] } });
  const text = ndjsonEncoder({ ...options, shape }).encode([tagged]);
  const record = ndjsonRecords.layout(text, "rep_")?.read(text);
  expect(record?.list("tags")).toEqual(["=cmd", "x", "a:b"]);
});
