import { expect, test } from "vitest";
import { runInProcess } from "../../run-in-process.js";

async function items(operands: readonly string[], stdin: string | null): Promise<string[]> {
  const { stdout } = await runInProcess(["query", "--local", ...operands], { stdin });
  const lines = stdout.split("\n").filter((line) => line !== "");
  return lines.map((line) => (JSON.parse(line) as { readonly item: string }).item);
}

test("reads the arguments, and the lines of stdin without any or in place of a dash", async () => {
  expect(await items(["192.0.2.1", " no item "], null)).toEqual(["192.0.2.1", " no item "]);
  const lines = "a.example\r\n\r\n# note\n 192.0.2.1 \nlast.example";
  expect(await items([], lines)).toEqual(["a.example", "192.0.2.1", "last.example"]);
  expect(await items(["b.example", "-", "c.example"], "a.example\n")).toEqual([
    "b.example",
    "a.example",
    "c.example",
  ]);
});

test("requires arguments if stdin is a terminal", async () => {
  const { code, stderr } = await runInProcess(["query", "--local"], { stdin: null });
  expect([code, stderr]).toEqual([2, expect.stringContaining("nothing to look up")]);
});
