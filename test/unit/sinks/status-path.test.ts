import { expect, it } from "vitest";
import { findingStatuses } from "../../../src/core/finding.js";
import { encoders } from "../../../src/sinks/registry.js";
import { statusPath } from "../../../src/sinks/status-path.js";
import { anEnrichedRow } from "../../helpers/enriched-rows.js";
import { options } from "./shapes/shaped-rows.js";

it.each([
  ["ndjson", "nested"],
  ["ndjson", "flat"],
  ["ecs", "nested"],
  ["ocsf", "nested"],
] as const)("leads to the status in every line of %s, %s", (format, shape) => {
  const given = { ...options, shape, prefix: "x_" };
  const rows = findingStatuses.map((status) => anEnrichedRow({}, { status }));
  const lines = encoders[format](given).encode(rows).trimEnd().split("\n");
  const found = lines.map((line) =>
    (statusPath(format, given) ?? []).reduce<unknown>(
      (value, member) => (value as Readonly<Record<string, unknown>>)[member],
      JSON.parse(line),
    ),
  );
  expect(found).toEqual(findingStatuses);
});

it.each(["csv", "tsv", "stix"] as const)("is none for %s", (format) => {
  expect(statusPath(format, options)).toBeNull();
});
