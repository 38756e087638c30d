import { expect, test } from "vitest";
import { runInProcess } from "../../run-in-process.js";

test("takes each argument as it is", async () => {
  const { stdout } = await runInProcess(["query", "--local", "192.0.2.1", " no item "]);
  const lines = stdout.split("\n").slice(0, -1);
  const items = lines.map((line) => (JSON.parse(line) as { readonly item: string }).item);
  expect(items).toEqual(["192.0.2.1", " no item "]);
});

test("requires arguments", async () => {
  const { code, stderr } = await runInProcess(["query", "--local"], { stdin: "192.0.2.1\n" });
  expect([code, stderr]).toEqual([2, expect.stringContaining("nothing to look up")]);
});
