import { expect, it } from "vitest";
import { formats } from "../../../src/io/formats/registry.js";
import { anEnrichedRow } from "../../helpers/enriched-rows.js";
import { options } from "./shapes/shaped-rows.js";

const rows = [
  anEnrichedRow({}, { query: { intent: "malicious" } }),
  anEnrichedRow({}, { status: "partial", query: {} }),
  anEnrichedRow({}, { status: "failed", quickCheck: { intent: "suspicious" } }),
  anEnrichedRow({}, { status: "invalid" }),
  anEnrichedRow({}, { status: "unsupported" }, null),
];

it.each([
  ["csv", "flat"],
  ["tsv", "flat"],
  ["ndjson", "nested"],
  ["ndjson", "flat"],
  ["ecs", "nested"],
  ["es-bulk", "nested"],
] as const)("counts by status and verdict what it wrote: %s, %s", (name, shape) => {
  const given = { ...options, shape, prefix: "x_" };
  const format = formats[name];
  const encoder = format.write(given);
  const text = encoder.header + encoder.encode(rows);
  const counter = format.count({
    ...given,
    inputColumns: options.columns.length,
  });
  for (const record of format.split().push(Buffer.from(text))) counter.add(record);
  expect(counter.counted()).toEqual({
    rows: 5,
    statuses: { complete: 1, partial: 1, failed: 1, invalid: 1, unsupported: 1 },
    verdicts: { malicious: 1, suspicious: 1, listed: 0, none: 1, unknown: 2 },
  });
});
