import { expect, test } from "vitest";
import {
  printRecords,
  showRecord,
  wantsLines,
  writeOut,
} from "../../../src/cli/terminal/data-output.js";
import { fakeContext, FakeStream } from "../fake-context.js";

test.each([
  ["a pipe", {}, false, true],
  ["a terminal", { columns: 80 }, false, false],
  ["a terminal with --json", { columns: 80 }, true, true],
])("what goes to %s", (_, options, json, lines) => {
  expect(wantsLines({ settings: { json }, context: fakeContext(options) })).toBe(lines);
});

test("prints each record as one line of JSON, without colour", async () => {
  const context = fakeContext({ env: { FORCE_COLOR: "1" } });
  const records = [{ name: "a\nb" }, { verdict: "malicious" }];
  await printRecords<object>({ settings: { json: false }, context }, records, []);
  expect(context.stdout.text).toBe('{"name":"a\\nb"}\n{"verdict":"malicious"}\n');
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

test("prints each field with its path, a list of plain values on one line", async () => {
  const s = { data: { Name: "Ada", "Start date": "2024" } };
  const record = { id: 7, s, on: false, none: null, ips: ["a", "b"], refs: [{ url: "c" }] };
  expect(await shown(record)).toEqual([
    "id                    7",
    "s.data.Name           Ada",
    's.data["Start date"]  2024',
    "on                    false",
    "none",
    "ips                   a, b",
    "refs[0].url           c",
  ]);
});

test("truncates a record with very many fields and says so", async () => {
  const record = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`m${at}`, at]));
  const lines = await shown(record);
  expect([lines.length, lines.at(-1)]).toEqual([
    1001,
    expect.stringMatching(/^… +more with --json$/),
  ]);
});
