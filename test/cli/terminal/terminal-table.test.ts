import { expect, test } from "vitest";
import { printTable } from "../../../src/cli/terminal/data-output.js";
import { paintFor } from "../../../src/cli/terminal/terminal-output.js";
import { fakeContext, FakeStream } from "../fake-context.js";

const plain = paintFor(fakeContext());

function tabled(titles: string, rows: readonly (readonly string[])[], width: number | null = 80) {
  const stdout = new FakeStream(width);
  printTable(stdout, { titles: titles.split(" "), rows }, plain);
  return stdout.text;
}

test.each([
  [
    "columns stand under their titles, wide characters counted",
    "item kind",
    [
      ["例え", "ip"],
      ["a.b", "url"],
    ],
    "item  kind\n例え  ip\na.b   url\n",
  ],
  [
    "columns without values are left out",
    "item tags kind",
    [["a", "", "ip"]],
    "item  kind\na     ip\n",
  ],
  ["nothing is printed without rows", "item", [], ""],
  ["lines of a cell are joined", "a", [["one\n  two"]], "a\none two\n"],
  [
    "control characters are escaped",
    "c d",
    [["\u202Ered\u0007", "a\tb"]],
    "c                    d\n<U+202E>red<U+0007>  a b\n",
  ],
] as const)("%s", (_, titles, rows, text) => {
  expect(tabled(titles, rows)).toBe(text);
});

test("shortens the widest columns until a line fits, and keeps addresses whole", () => {
  const text = tabled("item kind error", [["192.0.2.1", "ip", "words ".repeat(9)]], 40);
  expect(text).toBe("item       kind  error\n192.0.2.1  ip    words words words word…\n");
  const cells = ["203.0.113.123", "a".repeat(20), "b".repeat(20)];
  expect(tabled("item x y", [cells], 40).split("\n")[1]).toBe(
    "203.0.113.123  aaaaaaaaaa…  bbbbbbbbbb…",
  );
});

test.each([
  [80, /malicious {2,}complete/],
  [70, /malicious {2,}complete/],
  [44, /verdict {2,}malicious/],
])("never shortens a column that is named, at %i columns", (width, text) => {
  const stdout = new FakeStream(width);
  const titles = ["item", "verdict", "status", "blocklist", "tags"];
  const tags = "credentials:brute-force, research:internet-measurement";
  const rows = ["malicious", "suspicious", "none"].map((verdict) => [
    "https://example.org/a/long/path/to/a/page",
    verdict,
    "complete",
    "INFORMATIONAL",
    tags,
  ]);
  printTable(stdout, { titles, rows, whole: ["verdict", "status"] }, plain);
  expect(stdout.text).toMatch(text);
  expect(stdout.text).not.toMatch(/(?:malicio|suspicio|complet)\S*…/);
});

test("prints each row as a card if the terminal is too narrow for a table", () => {
  const rows = [
    ["192.0.2.1", "words ".repeat(5).trim(), "", "x".repeat(12)],
    ["192.0.2.2", "", "yes", ""],
  ];
  expect(tabled("item error bogon z", rows, 32).split("\n")).toEqual([
    "item   192.0.2.1",
    "error  words words words words",
    "       words",
    "z      xxxxxxxxxxxx",
    "",
    "item   192.0.2.2",
    "bogon  yes",
    "",
  ]);
});

test.each([40, 200])("no line is longer than %i columns, whatever a cell's length", (width) => {
  const cells = Array.from({ length: 8 }, (_, at) => "word ".repeat(at ** 6) + "x");
  const lines = tabled("a b c d e f g h", [cells], width).split("\n");
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(width);
});

test("writes whole cells to a file, whatever their length", () => {
  expect(tabled("item", [["x".repeat(300)]], null)).toBe(`item\n${"x".repeat(300)}\n`);
});
