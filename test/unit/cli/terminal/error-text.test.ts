import { expect, test } from "vitest";
import { FatalError, UsageError } from "../../../../src/core/errors.js";
import { errorText } from "../../../../src/cli/terminal/reporter.js";

const plain = { command: "enrich", debug: false };

test("a usage error says what is wrong, what to do and where to find help", () => {
  const error = new UsageError("input_not_found", "there is no column ioc", {
    hint: "did you mean ip?",
  });
  expect(errorText(error, plain)).toBe(
    "repute: there is no column ioc\n  did you mean ip?\n  see: repute enrich --help",
  );
});

test("a usage error before any command points to the program's help", () => {
  const error = new UsageError("input_not_found", "there is no command");
  expect(errorText(error, { command: null, debug: false })).toMatch(/\n {2}see: repute --help$/);
});

test("starts each line of a message with the program's name", () => {
  expect(errorText(new FatalError("input_not_found", "one\ntwo"), plain)).toBe(
    "repute: one\nrepute: two",
  );
});

test("reports an unexpected error as a bug, without a stack trace", () => {
  const text = errorText(new TypeError("x is undefined"), plain);
  expect(text).toMatch(/^repute: unexpected error: x is undefined\n {2}this is a bug in repute/);
  expect(text).not.toContain("    at ");
});

test("prints the stacks of the error and its cause when debugging", () => {
  const error = new FatalError("input_not_found", "outer", { cause: new Error("inner") });
  const text = errorText(error, { command: null, debug: true });
  expect(text).toMatch(/FatalError: outer\n {4}at [\s\S]*Error: inner\n {4}at /);
});

test("prints the code of a failed request, as in JSON", () => {
  const error = new FatalError("connect_refused", "the service refused the connection");
  expect(errorText(error, { command: null, debug: false })).toBe(
    "repute: the service refused the connection (connect_refused)",
  );
});
