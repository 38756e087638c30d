import { expect, test } from "vitest";
import { paintFor, TerminalOutput } from "../../../src/cli/terminal/data-output.js";
import { printTable } from "../../../src/cli/terminal/data-output.js";
import { FakeStream } from "../fake-context.js";

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
