import { expect, test } from "vitest";
import { showRecord } from "../../../../src/cli/terminal/data-output.js";
import { fakeContext } from "../fake-context.js";

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
