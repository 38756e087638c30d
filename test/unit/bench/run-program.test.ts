import { expect, test } from "vitest";
import { cpuSecondsOf, runProgram } from "../../bench/run-program.mjs";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

test("CPU time is that of the shell's children, user and system", () => {
  expect(cpuSecondsOf("0m9.00s 0m9.00s\n1m2.25s 0m0.50s\n")).toBeCloseTo(62.75);
  expect(cpuSecondsOf("0m0.010s 0m0.000s\n0m0.120s 0m0.030s\n")).toBeCloseTo(0.15);
  expect(() => cpuSecondsOf("")).toThrow("unreadable");
});

test("a run reports the peak memory of its own program", async () => {
  const folder = await temporaryFolder();
  const small = await runProgram(["node", "-e", "0"], { folder });
  const large = await runProgram(["node", "-e", "Buffer.alloc(100 << 20, 1)"], { folder });
  expect((large.peakBytes ?? 0) - (small.peakBytes ?? 0)).toBeGreaterThan(90 << 20);
  expect(await runProgram(["true"], { folder })).toHaveProperty("peakBytes", null);
});

test("a failing program is an error with its output", async () => {
  const folder = await temporaryFolder();
  const failing = ["node", "-e", "console.error('no such thing'); process.exit(7)"];
  await expect(runProgram(failing, { folder })).rejects.toThrow(/ended with 7: no such thing/);
});
