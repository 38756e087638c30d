import { expect, test } from "vitest";
import { TerminalTable } from "../../../../src/cli/terminal/terminal-table.js";
import { FakeStream } from "../fake-context.js";

async function tabled(
  titles: readonly string[] | null,
  rows: readonly (readonly string[])[],
  width = 80,
): Promise<string> {
  const stdout = new FakeStream(width);
  const table = new TerminalTable({ stdout }, titles);
  for (const row of rows) await table.add(row);
  await table.end();
  return stdout.text;
}

test("columns line up under their titles", async () => {
  const rows = [
    ["192.0.2.1", "ip"],
    ["a.example", "domain"],
  ];
  expect(await tabled(["item", "kind"], rows)).toBe(
    "item       kind\n192.0.2.1  ip\na.example  domain\n",
  );
});

test("a column without any value is left out", async () => {
  expect(await tabled(["item", "tags", "kind"], [["a", "", "ip"]])).toBe("item  kind\na     ip\n");
});

test("a table without titles has its rows alone", async () => {
  expect(await tabled(null, [["name", "a:b"]])).toBe("name  a:b\n");
});

test("nothing is shown of no rows", async () => {
  expect(await tabled(["item"], [])).toBe("");
});

test("a line fits the width: the widest columns give way and wrap", async () => {
  const text = await tabled(
    ["item", "kind", "error"],
    [["a".repeat(30), "ip", "words ".repeat(9)]],
    40,
  );
  const lines = text.split("\n");
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(40);
  expect(text.match(/a/g)).toHaveLength(30);
  expect(text.match(/words/g)).toHaveLength(9);
});

test("no column is narrower than eight characters", async () => {
  const text = await tabled(["item", "error"], [["a".repeat(20), "x".repeat(20)]], 10);
  expect(text.split("\n")[1]).toBe("aaaaaaaa  xxxxxxxx");
});

test("characters of East Asia take two columns each", async () => {
  const rows = [
    ["例え", "x"],
    ["abcd", "y"],
  ];
  expect(await tabled(null, rows)).toBe("例え  x\nabcd  y\n");
});

test("control characters do not reach the terminal", async () => {
  expect(await tabled(null, [["\u001B[31mred\u0007", "a\tb"]])).toBe(
    "<U+001B>[31mred<U+0007>  a b\n",
  );
});

test("columns line up after escaped control characters", async () => {
  const rows = [
    ["\u202Ecod.exe", "x"],
    ["a", "y"],
  ];
  expect(await tabled(null, rows)).toBe("<U+202E>cod.exe  x\na                y\n");
});

test("a cell of ten megabytes is cut", async () => {
  const text = await tabled(null, [["x".repeat(10_000_000)]]);
  expect(text.length).toBeLessThan(3000);
});

test("rows are shown batch by batch, under one line of titles", async () => {
  const stdout = new FakeStream(80);
  const table = new TerminalTable({ stdout }, ["id", "note"]);
  for (let id = 0; id < 500; id++) await table.add([`c-${id}`, ""]);
  const early = stdout.text;
  await table.add(["c-500", "late"]);
  await table.end();
  expect(early.split("\n")).toHaveLength(502);
  expect(stdout.text.split("\n").at(-2)).toMatch(/^c-500 +late$/);
  expect(stdout.text.match(/note/g)).toHaveLength(1);
});
