import { expect, test } from "vitest";
import { quickCheckResultSchema } from "../../../../src/api/schema/query-result.js";
import { quickCheckResult, without } from "../answers.js";

function follows(value: unknown): boolean {
  return quickCheckResultSchema.safeParse(value).success;
}

test("accepts a complete quick check", () => {
  expect(follows(quickCheckResult())).toBe(true);
});

test("requires item", () => {
  expect(follows(without(quickCheckResult(), "item"))).toBe(false);
});

const others = Object.keys(quickCheckResult()).filter((member) => member !== "item");

test.each(others)("%s may be absent", (member) => {
  expect(follows(without(quickCheckResult(), member))).toBe(true);
});

test.each(others)("%s may be null", (member) => {
  expect(follows({ ...quickCheckResult(), [member]: null })).toBe(true);
});

test.each(others)("%s is of one type", (member) => {
  expect(follows({ ...quickCheckResult(), [member]: 7 })).toBe(false);
});
