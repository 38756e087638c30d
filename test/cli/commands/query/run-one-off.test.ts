import { expect, test } from "vitest";
import { oneOffItems } from "../../../../src/cli/commands/query/run-one-off.js";
import { fakeContext } from "../../fake-context.js";

async function items(operands: readonly string[], stdin: string | null): Promise<string[]> {
  const context = fakeContext({ stdin });
  const found: string[] = [];
  for await (const item of oneOffItems(operands, context, context.signal)) found.push(item);
  return found;
}

test("reads the arguments unchanged", async () => {
  expect(await items(["192.0.2.1", " a.example "], null)).toEqual(["192.0.2.1", " a.example "]);
});

test("reads the lines of stdin without arguments", async () => {
  expect(await items([], "a.example\r\n\r\n# note\n 192.0.2.1 \nlast.example")).toEqual([
    "a.example",
    "192.0.2.1",
    "last.example",
  ]);
});

test("reads the lines of stdin in place of a dash", async () => {
  expect(await items(["first.example", "-", "last.example"], "a.example\n")).toEqual([
    "first.example",
    "a.example",
    "last.example",
  ]);
});

test("requires arguments if stdin is a terminal", async () => {
  await expect(items([], null)).rejects.toMatchObject({ code: "item_missing" });
});

test("ends with the abort reason while stdin is silent", async () => {
  const context = fakeContext({ stdin: null });
  const reading = oneOffItems(["-"], context, context.signal)[Symbol.asyncIterator]().next();
  const reason = new Error("stopped");
  context.controller.abort(reason);
  await expect(reading).rejects.toBe(reason);
});
