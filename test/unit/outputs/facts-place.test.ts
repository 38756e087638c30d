import { expect, it } from "vitest";
import { encoders } from "../../../src/outputs/registry.js";
import { factsPlace } from "../../../src/outputs/facts-place.js";
import { anEnrichedRow } from "../../helpers/enriched-rows.js";
import { options } from "../formats/shapes/shaped-rows.js";

it.each([
  ["ndjson", "nested"],
  ["ndjson", "flat"],
  ["ecs", "nested"],
  ["ocsf", "nested"],
] as const)("leads to status and verdict in every line of %s, %s", (format, shape) => {
  const given = { ...options, shape, prefix: "x_" };
  const rows = [
    anEnrichedRow({}, { query: { intent: "malicious" } }),
    anEnrichedRow({}, { status: "partial", query: {} }),
    anEnrichedRow({}, { status: "failed", quickCheck: { intent: "suspicious" } }),
    anEnrichedRow({}, { status: "invalid" }),
    anEnrichedRow({}, { status: "unsupported" }, null),
  ];
  const lines = encoders[format](given).encode(rows).trimEnd().split("\n");
  const { within, status, verdict } = factsPlace(format, given)!;
  const found = lines.map((line) => {
    const facts = within.reduce<Record<string, unknown>>(
      (value, member) => value[member] as Record<string, unknown>,
      JSON.parse(line) as Record<string, unknown>,
    );
    return [facts[status], facts[verdict]];
  });
  expect(found).toEqual([
    ["complete", "malicious"],
    ["partial", "none"],
    ["failed", "suspicious"],
    ["invalid", null],
    ["unsupported", null],
  ]);
});

it.each(["csv", "tsv", "stix"] as const)("is none for %s", (format) => {
  expect(factsPlace(format, options)).toBeNull();
});
