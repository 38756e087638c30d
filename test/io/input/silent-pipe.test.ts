import { expect, test } from "vitest";
import { startRepute } from "../../helpers/run-repute.js";

test.each([
  ["SIGTERM", 143],
  ["SIGINT", 130],
] as const)("%s ends a plan of a pipe that stays open", async (signal, code) => {
  const { child, result, waitFor } = startRepute(["plan", "-", "--from", "csv"]);
  child.stdin?.write(`domain\n${"h.example.com\n".repeat(20_000)}`);
  await waitFor("stderr", /using column/);
  child.kill(signal);
  expect(await result).toMatchObject({ code, stdout: "" });
});
