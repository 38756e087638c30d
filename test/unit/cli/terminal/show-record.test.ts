import { expect, test } from "vitest";
import { showCounts } from "../../../../src/cli/terminal/data-output.js";
import { fakeContext } from "../fake-context.js";

const record = {
  folder: "c",
  bytes: 1_234_567,
  entries: 12_345,
  kinds: { full: 1_000 },
  last: null,
};

test("prints counts with the units of the summary on a terminal", async () => {
  const context = fakeContext({ columns: 100 });
  await showCounts({ settings: { json: false }, context }, record);
  const lines = context.stdout.text.trimEnd().split("\n");
  expect(lines.map((line) => line.split(/ {2,}/))).toEqual([
    ["folder", "c"],
    ["bytes", "1.2 MB"],
    ["entries", "12,345"],
    ["kinds.full", "1,000"],
    ["last"],
  ]);
});

test.each([
  ["to a pipe", {}, false],
  ["with --json", { columns: 100 }, true],
])("prints counts as plain numbers %s", async (_, options, json) => {
  const context = fakeContext(options);
  await showCounts({ settings: { json }, context }, record);
  expect(JSON.parse(context.stdout.text)).toEqual(record);
});
