import { expect, test } from "vitest";
import { TerminalTable } from "../../../../src/cli/terminal/terminal-table.js";
import { paintFor } from "../../../../src/cli/terminal/colors.js";
import { fakeContext, FakeStream } from "../fake-context.js";

const plain = paintFor({ settings: { color: "never" }, context: fakeContext() });

function tabled(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  width = 80,
): string {
  const stdout = new FakeStream(width);
  const table = new TerminalTable(stdout, titles, plain);
  for (const row of rows) table.add(row);
  table.end();
  return stdout.text;
}

test("aligns columns under their titles", () => {
  const rows = [
    ["192.0.2.1", "ip"],
    ["a.example", "domain"],
  ];
  expect(tabled(["item", "kind"], rows)).toBe(
    "item       kind\n192.0.2.1  ip\na.example  domain\n",
  );
});

test("leaves out a column without values", () => {
  expect(tabled(["item", "tags", "kind"], [["a", "", "ip"]])).toBe("item  kind\na     ip\n");
});

test("prints nothing without rows", () => {
  expect(tabled(["item"], [])).toBe("");
});

test("shortens the widest column until a line fits", () => {
  const text = tabled(["item", "kind", "error"], [["192.0.2.1", "ip", "words ".repeat(9)]], 40);
  expect(text).toBe("item       kind  error\n192.0.2.1  ip    words words words word…\n");
});

test("keeps addresses whole while it shortens other columns", () => {
  const cells = ["203.0.113.123", "a".repeat(20), "b".repeat(20)];
  expect(tabled(["item", "x", "y"], [cells], 40).split("\n")[1]).toBe(
    "203.0.113.123  aaaaaaaaaa…  bbbbbbbbbb…",
  );
});

test("prints each row as a card if the terminal is too narrow for a table", () => {
  const rows = [
    ["192.0.2.1", "words ".repeat(5).trim(), "", "x".repeat(12)],
    ["192.0.2.2", "", "yes", ""],
  ];
  expect(tabled(["item", "error", "bogon", "z"], rows, 32)).toBe(
    [
      "item   192.0.2.1",
      "error  words words words words",
      "       words",
      "z      xxxxxxxxxxxx",
      "",
      "item   192.0.2.2",
      "bogon  yes",
      "",
    ].join("\n"),
  );
});

test.each([40, 80, 120, 200])("no line is longer than %i columns", (width) => {
  const cells = Array.from({ length: 8 }, (_, at) => "word ".repeat(at * 3) + "x");
  const text = tabled(["a", "b", "c", "d", "e", "f", "g", "h"], [cells], width);
  expect(Math.max(...text.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(width);
});

test("aligns numbers and their title on the right", () => {
  const rows = [
    ["a", "7", "x"],
    ["b", "1,234", "y"],
  ];
  expect(tabled(["name", "rows", "z"], rows)).toBe(
    "name   rows  z\na         7  x\nb     1,234  y\n",
  );
});

test("joins the lines of a cell", () => {
  expect(tabled(["a"], [["one\n  two"]])).toBe("a\none two\n");
});

test("counts wide East Asian characters as two columns", () => {
  const rows = [
    ["例え", "x"],
    ["abcd", "y"],
  ];
  expect(tabled(["a", "b"], rows)).toBe("a     b\n例え  x\nabcd  y\n");
});

test("escapes control characters", () => {
  expect(tabled(["c", "d"], [["\u001B[31mred\u0007", "a\tb"]])).toBe(
    "c                        d\n<U+001B>[31mred<U+0007>  a b\n",
  );
});

test("aligns columns after escaped control characters", () => {
  const rows = [
    ["\u202Ecod.exe", "x"],
    ["a", "y"],
  ];
  expect(tabled(["a", "b"], rows)).toBe(
    "a                b\n<U+202E>cod.exe  x\na                y\n",
  );
});

test("truncates a cell of ten megabytes", () => {
  const text = tabled(["a"], [["x".repeat(10_000_000)]]);
  expect(text.length).toBeLessThan(3000);
});

test("prints rows batch by batch under one line of titles", () => {
  const stdout = new FakeStream(80);
  const table = new TerminalTable(stdout, ["id", "note"], plain);
  for (let id = 0; id < 500; id++) table.add([`c-${id}`, ""]);
  const early = stdout.text;
  table.add(["c-500", "late"]);
  table.end();
  expect(early.split("\n")).toHaveLength(502);
  expect(stdout.text.split("\n").at(-2)).toMatch(/^c-500 +late$/);
  expect(stdout.text.match(/note/g)).toHaveLength(1);
});

test("writes whole cells to a file, whatever their length", () => {
  const stdout = new FakeStream();
  const table = new TerminalTable(stdout, ["item"], plain);
  table.add(["x".repeat(300)]);
  table.end();
  expect(stdout.text).toBe(`item\n${"x".repeat(300)}\n`);
});
