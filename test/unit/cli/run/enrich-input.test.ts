import { expect, test } from "vitest";
import { enrichInput } from "../../../../src/cli/run/enrich-job.js";
import { fakeContext } from "../fake-context.js";

test("an argument is a file", () => {
  expect(enrichInput(["a.csv"], fakeContext())).toEqual({ path: "a.csv" });
});

test.each([[["-"]], [[]]])("%j is stdin", (operands) => {
  expect(enrichInput(operands, fakeContext({ stdin: "" }))).toMatchObject({ name: "stdin" });
});

test("a dash reads from a terminal", () => {
  expect(enrichInput(["-"], fakeContext({ stdin: null }))).toMatchObject({ name: "stdin" });
});

test("no operand is an error if stdin is a terminal", () => {
  expect(() => enrichInput([], fakeContext({ stdin: null }))).toThrow("no input");
});

test("two files are one too many", () => {
  expect(() => enrichInput(["a.csv", "b.csv"], fakeContext())).toThrow(
    "one input at a time; got a.csv b.csv",
  );
});
