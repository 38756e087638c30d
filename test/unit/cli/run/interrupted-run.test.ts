import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { explainInterruption } from "../../../../src/cli/run/interrupted-run.js";
import { FatalError, InterruptedError, UsageError } from "../../../../src/core/errors.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

async function keptOutput(): Promise<string> {
  const output = join(await temporaryFolder(), "out.csv");
  await mkdir(`${output}.state`);
  return output;
}

test("an interrupted run with saved progress says how to continue", async () => {
  expect(explainInterruption(new InterruptedError("SIGTERM"), await keptOutput())).toMatchObject({
    signal: "SIGTERM",
    hint: expect.stringContaining("--resume") as string,
  });
});

test("an interrupted run without saved progress says so", () => {
  expect(explainInterruption(new InterruptedError("SIGINT"), "-")).toMatchObject({
    hint: "nothing was saved; run the command again",
  });
});

test("finds the state next to the target of a link", async () => {
  const output = await keptOutput();
  await writeFile(output, "");
  const link = join(await temporaryFolder(), "link.csv");
  await symlink(output, link);
  expect(explainInterruption(new InterruptedError("SIGINT"), link)).toMatchObject({
    hint: expect.stringContaining("--resume") as string,
  });
});

test("a run that could not go on keeps its own advice, and how to go on follows", async () => {
  const error = new FatalError("output_disk_full", "the disk is full", { hint: "free some space" });
  expect(explainInterruption(error, await keptOutput())).toMatchObject({
    code: "output_disk_full",
    message: "the disk is full",
    hint: expect.stringMatching(/^free some space\n {2}.*--resume$/) as string,
  });
});

test("the error of a run that never started is unchanged", async () => {
  const error = new UsageError("state_exists", "an interrupted run is there");
  expect(explainInterruption(error, await keptOutput())).toBe(error);
});
