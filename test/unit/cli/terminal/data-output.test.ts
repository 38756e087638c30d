import { expect, test } from "vitest";
import { dataOutput, wantsLines, writeOut } from "../../../../src/cli/terminal/data-output.js";
import { fakeContext, FakeStream } from "../fake-context.js";

test.each([
  ["a pipe", null, false, true],
  ["a terminal", 80, false, false],
  ["a terminal with --json", 80, true, true],
] as const)("what goes to %s", (_, columns, json, lines) => {
  const context = fakeContext(columns === null ? {} : { columns });
  expect(wantsLines(json, context)).toBe(lines);
});

test("prints each record as one line of JSON", async () => {
  const context = fakeContext();
  const output = dataOutput<object>({ settings: { json: false }, context }, []);
  await output.add({ name: "a\nb" });
  await output.add({});
  expect(context.stdout.text).toBe('{"name":"a\\nb"}\n{}\n');
});

test("an abort ends the wait for a stalled reader with its reason", async () => {
  const context = fakeContext();
  const reason = new Error("stopped");
  const stdout = new FakeStream();
  stdout.write = () => false;
  const written = writeOut({ ...context, stdout }, "x");
  context.controller.abort(reason);
  await expect(written).rejects.toBe(reason);
});
