import { describe, expect, it } from "vitest";
import { columns } from "../../../../src/core/columns.js";
import { csvEncoder, earlierCsv } from "../../../../src/formats/csv/csv-writer.js";
import { earlierNdjson } from "../../../../src/formats/ndjson/ndjson-output.js";
import { ndjsonEncoder } from "../../../../src/formats/ndjson/ndjson-writer.js";
import type { EarlierRecord } from "../../../../src/formats/types.js";
import { anEnrichedRow, fullIpResult } from "../../../helpers/enriched-rows.js";

const options = { columns: ["ip"], prefix: "rep_", formulaGuard: true } as const;
const row = anEnrichedRow(
  {},
  { query: fullIpResult, quickCheck: { intent: "none", bogon: false } },
);

function fromNested(): EarlierRecord {
  const text = ndjsonEncoder({ ...options, shape: "nested" }).encode([row]);
  const record = earlierNdjson.layout(text, "rep_")?.read(text);
  if (!record) throw new Error("the row was not read");
  return record;
}

function fromCsv(): EarlierRecord {
  const encoder = csvEncoder(",", { ...options, shape: "flat" });
  const record = earlierCsv(",")
    .layout(encoder.header, "rep_")
    ?.read(encoder.encode([row]));
  if (!record) throw new Error("the row was not read");
  return record;
}

describe("a nested row that is read back", () => {
  it.each(columns.map(({ name }) => name))("has the column %s as a flat row has it", (name) => {
    const [nested, flat] = [fromNested(), fromCsv()].map((row) => [row.text(name), row.list(name)]);
    const isList = columns.find((column) => column.name === name)?.type === "text[]";
    expect(nested?.[isList ? 1 : 0]).toEqual(flat?.[isList ? 1 : 0]);
  });
});

it.each(["nested", "flat"] as const)("reads a tag that contains | as several (%s)", (shape) => {
  const tagged = anEnrichedRow({}, { query: { ...fullIpResult, tags: ["=cmd|x", "a:b"] } });
  const text = ndjsonEncoder({ ...options, shape }).encode([tagged]);
  const record = earlierNdjson.layout(text, "rep_")?.read(text);
  expect(record?.list("tags")).toEqual(["=cmd", "x", "a:b"]);
});
