import { expect, test } from "vitest";
import { results } from "../../../src/core/endpoints/query.js";
import { tagIpsSchema } from "../../../src/client/api/calls.js";
import { schemaFault } from "../../../src/client/api/schema-fault.js";
import { ipResult } from "./answers.js";

const large = 8 * 1024 * 1024;

function tagIps(entries: unknown[]) {
  const snapshot = "abcdefghijklmnopqrstuvwx";
  return { tag: "a:b", entries, lastUpdate: "2023-01-02T03:04:05Z", total: 1, snapshot };
}

test.each([100, large])("finds no fault in a valid value of %i bytes", (bytes) => {
  expect(schemaFault(results.IP, ipResult(), bytes, "result")).toBeNull();
});

test("locates a fault far down a long list", () => {
  const entries: unknown[] = Array.from({ length: 200_000 }, () => "192.0.2.7");
  entries[123_456] = 7;
  expect(schemaFault(tagIpsSchema, tagIps(entries), large, "result")).toBe(
    "result.entries[123456] must be of type string",
  );
});

test("stops at the first slice of a long invalid list", () => {
  const value = tagIps(Array.from({ length: 4_000_000 }, () => 0));
  expect(schemaFault(tagIpsSchema, value, large, "result")).toContain(
    "result.entries[0] must be of type string",
  );
});
