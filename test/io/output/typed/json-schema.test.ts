import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ndjsonEncoder } from "../../../../src/io/formats/ndjson/ndjson.js";
import { jsonSchema } from "../../../../src/io/output/typed/json-schema.js";
import { anEnrichedRow, fullIpResult } from "../../../helpers/enriched-rows.js";

const options = { columns: ["ip", "", "ip"], prefix: "rep_" };
const schema = z.fromJSONSchema(jsonSchema(options));

const rows = [
  anEnrichedRow({ cells: ["192.0.2.1", "", "x"] }, { query: fullIpResult }),
  anEnrichedRow(
    { cells: ["?"], extra: '["surplus"]' },
    { status: "unsupported", lookedUpAt: null, httpStatus: null, attempts: 0 },
    null,
  ),
  anEnrichedRow({}, { status: "failed", error: { code: "timeout", message: "no answer" } }),
];

describe.each(["flat", "nested"] as const)("the JSON Schema of %s rows", (shape) => {
  const text = ndjsonEncoder({
    columns: options.columns,
    prefix: "rep_",
    shape,
  }).encode(rows);
  const records = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

  it("accepts the rows that are written", () => {
    expect(records.map((record) => schema.safeParse(record).success)).toEqual([true, true, true]);
  });

  it("rejects a row without a status", () => {
    const [record] = records;
    const broken =
      shape === "flat"
        ? { ...record, rep_status: "fine" }
        : { ...record, rep: { ...(record?.["rep"] as object), status: "fine" } };
    expect(schema.safeParse(broken).success).toBe(false);
  });
});
