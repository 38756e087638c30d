import { expect, test } from "vitest";
import {
  paintFor,
  printRecords,
  printTable,
  showRecord,
  TerminalOutput,
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
  await printRecords<object>({ settings: { json: false }, context }, records, {});
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

test("prints each field with its path, a list of plain values on one line", async () => {
  const context = fakeContext({ columns: 100 });
  const s = { data: { Name: "Ada", "Start date": "2024" } };
  const record = { id: 7, s, on: false, none: null, ips: ["a", "b"], refs: [{ url: "c" }] };
  await showRecord({ settings: { json: false }, context }, record);
  expect(context.stdout.text).toBe(`id                 7
s.data.Name        Ada
s.data.Start date  2024
on                 false
none
ips                a, b
refs[0].url        c
`);
});

function tabled(titles: string, rows: readonly (readonly string[])[], width: number | null = 80) {
  const stdout = new FakeStream(width);
  printTable({ stdout, env: {} }, titles.split(" "), rows);
  return stdout.text;
}

test.each<[string, string, readonly (readonly string[])[], string]>([
  [
    "columns stand under their titles, wide characters counted",
    "item kind",
    [
      ["例え", "ip"],
      ["a.b", "url"],
    ],
    "item  kind\n例え  ip\na.b   url\n",
  ],
  ["columns without values are left out", "a tags kind", [["x", "", "ip"]], "a  kind\nx  ip\n"],
  ["nothing is printed without rows", "item", [], ""],
  ["lines of a cell are joined", "a", [["one\n  two"]], "a\none two\n"],
  [
    "control characters are escaped",
    "c d",
    [["\u202Ered\u0007", "a\tb"]],
    "c                    d\n<U+202E>red<U+0007>  a b\n",
  ],
])("%s", (_, titles, rows, text) => {
  expect(tabled(titles, rows)).toBe(text);
});

test("wraps the last column between words, and makes each row a card if there is no room", () => {
  const rows = [
    ["192.0.2.1", "complete", "words ".repeat(6).trim()],
    ["192.0.2.2", "", "yes"],
  ];
  expect(tabled("item status error", rows, 48)).toBe(
    `item       status    error
192.0.2.1  complete  words words words words
                     words words
192.0.2.2            yes
`,
  );
  expect(tabled("item status error", rows, 40)).toBe(
    `item    192.0.2.1
status  complete
error   words words words words words
        words

item    192.0.2.2
error   yes
`,
  );
});

test.each([40, 200])("no line is longer than %i columns, whatever a cell's length", (width) => {
  const cells = Array.from({ length: 8 }, (_, at) => "word ".repeat(at ** 6) + "x");
  const lines = tabled("a b c d e f g h", [cells], width).split("\n");
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(width);
});

test("writes whole cells to a file, whatever their length", () => {
  expect(tabled("item", [["x".repeat(300)]], null)).toBe(`item\n${"x".repeat(300)}\n`);
});

const terminal = new FakeStream(80);
const pipe = new FakeStream();

test.each([
  ["nothing on a terminal", { TERM: "xterm" }, terminal, true],
  ["nothing on a dumb terminal", { TERM: "dumb" }, terminal, false],
  ["nothing in a pipe", { TERM: "xterm" }, pipe, false],
  ["NO_COLOR on a terminal", { TERM: "xterm", NO_COLOR: "1" }, terminal, false],
  ["an empty NO_COLOR on a terminal", { TERM: "xterm", NO_COLOR: "" }, terminal, true],
  ["FORCE_COLOR in a pipe", { FORCE_COLOR: "1" }, pipe, true],
  ["FORCE_COLOR=0 on a terminal", { TERM: "xterm", FORCE_COLOR: "0" }, terminal, false],
  ["FORCE_COLOR with NO_COLOR", { FORCE_COLOR: "1", NO_COLOR: "1" }, pipe, true],
] as const)("colours: %s", (_, env, stdout, expected) => {
  expect(paintFor({ env, stdout })("title", null) !== "title").toBe(expected);
});

test("colours titles and verdicts of a table and escapes colour codes in its data", () => {
  const screen = new FakeStream(80);
  const stdout = new TerminalOutput(screen);
  const rows = ["malicious", "none"].map((verdict) => [verdict, "\u001B[31mx"]);
  printTable({ stdout, env: { FORCE_COLOR: "1" } }, ["verdict", "note"], rows);
  expect(screen.text.replaceAll("\u001B", "^").split("\n")).toEqual([
    "^[1mverdict^[0m    ^[1mnote^[0m",
    "^[31mmalicious^[0m  <U+001B>[31mx",
    "none       <U+001B>[31mx",
    "",
  ]);
});

const split = Buffer.from("a\u202Eb");

test.each<[string, readonly (string | Uint8Array)[], string]>([
  ["escapes control sequences", ["a,\u001B]0;x\u0007\u202E\n"], "a,<U+001B>]0;x<U+0007><U+202E>\n"],
  ["escapes a character of two writes", [split.subarray(0, 2), split.subarray(2)], "a<U+202E>b"],
  ["keeps a line end split across two writes", ["a\r", "\nb\r", "c"], "a\r\nb<U+000D>c"],
])("a terminal %s", (_, chunks, text) => {
  const screen = new FakeStream(80);
  const output = new TerminalOutput(screen);
  for (const chunk of chunks) output.write(chunk);
  expect(screen.text).toBe(text);
});

test("applies the back-pressure of the terminal", async () => {
  const terminal = new FakeStream(80);
  terminal.cork();
  const output = new TerminalOutput(terminal);
  const big = "x".repeat(100_000);
  const taken = new Promise((resolve) => output.write(big, resolve));
  expect(terminal.text).toBe("");
  terminal.uncork();
  await taken;
  expect(terminal.text).toBe(big);
});
