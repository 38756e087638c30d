import { expect, test } from "vitest";
import {
  dataOutput,
  showCounts,
  showRecord,
  wantsLines,
  writeOut,
} from "../../../../src/cli/terminal/data-output.js";
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

async function shown(record: object): Promise<readonly string[]> {
  const context = fakeContext({ columns: 100 });
  await showRecord({ settings: { json: false }, context }, record);
  return context.stdout.text.split("\n").slice(0, -1);
}

test("prints each field with its path", async () => {
  const record = { id: 7, s: { data: { Name: "Ada", "Start date": "2024" } }, on: false };
  expect(await shown(record)).toEqual([
    "id                    7",
    "s.data.Name           Ada",
    's.data["Start date"]  2024',
    "on                    false",
  ]);
});

test("prints a list of plain values on one line, a list of objects on several", async () => {
  expect(
    await shown({ ips: ["192.0.2.1", "192.0.2.2"], refs: [{ url: "a" }, { url: "b" }] }),
  ).toEqual(["ips          192.0.2.1, 192.0.2.2", "refs[0].url  a", "refs[1].url  b"]);
});

test("prints null and empty values as empty", async () => {
  expect(await shown({ a: null, b: [], c: {}, d: "x" })).toEqual(["a", "b", "c", "d  x"]);
});

test("prints a record of the maximum depth", async () => {
  let record: object = { leaf: 1 };
  for (let depth = 0; depth < 990; depth++) record = { a: record };
  expect((await shown(record)).join("").replaceAll(/\s/g, "")).toContain("a.a.a");
});

test("truncates a record with very many fields and says so", async () => {
  const record = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`m${at}`, at]));
  const lines = await shown(record);
  expect([lines.length, lines.at(-1)]).toEqual([
    1001,
    expect.stringMatching(/^… +more with --json$/),
  ]);
});

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
