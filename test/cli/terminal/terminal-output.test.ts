import { expect, test } from "vitest";
import { TerminalOutput } from "../../../src/cli/terminal/data-output.js";
import { FakeStream } from "../fake-context.js";

function written(...chunks: readonly (string | Uint8Array)[]): string {
  const terminal = new FakeStream(80);
  const output = new TerminalOutput(terminal);
  for (const chunk of chunks) output.write(chunk);
  return terminal.text;
}

test("escapes control sequences in data", () => {
  expect(written("ip,note\n192.0.2.1,\u001B]0;owned\u0007\u202E\n")).toBe(
    "ip,note\n192.0.2.1,<U+001B>]0;owned<U+0007><U+202E>\n",
  );
});

test("escapes a character split across two writes", () => {
  const bytes = Buffer.from("a\u202Eb");
  expect(written(bytes.subarray(0, 2), bytes.subarray(2))).toBe("a<U+202E>b");
});

test("keeps a line end split across two writes", () => {
  expect(written("a\r", "\nb\r", "c")).toBe("a\r\nb<U+000D>c");
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
