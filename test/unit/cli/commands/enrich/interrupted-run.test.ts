import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { explainInterruption } from "../../../../../src/cli/commands/enrich/interrupted-run.js";
import {
  EarlyEndError,
  FatalError,
  InterruptedError,
  UsageError,
} from "../../../../../src/core/errors.js";
import { temporaryFolder } from "../../../../helpers/temporary-folder.js";

async function keptOutput(): Promise<string> {
  const output = join(await temporaryFolder(), "out.csv");
  await mkdir(`${output}.state`);
  return output;
}

test("an interrupted run with saved progress says how to continue", async () => {
  expect(
    explainInterruption(new InterruptedError("SIGTERM"), await keptOutput(), null),
  ).toMatchObject({
    signal: "SIGTERM",
    hint: expect.stringContaining("--resume") as string,
  });
});

test("an interrupted run without saved progress says so", () => {
  expect(explainInterruption(new InterruptedError("SIGINT"), "-", null)).toMatchObject({
    hint: "nothing was saved; run the command again",
  });
});

test.each([
  [new InterruptedError("SIGINT"), "hint"],
  [new EarlyEndError("deadline_reached", "the deadline 05:30 has passed"), "message"],
  [new FatalError("output_disk_full", "the disk is full"), "hint"],
])("a run that ended early says how far it got (%s)", async (error, member) => {
  const reached = "3,456 rows (34%)";
  expect(explainInterruption(error, await keptOutput(), reached)).toMatchObject({
    [member]: expect.stringContaining("3,456 rows (34%) written; ") as string,
  });
});

test("finds the state next to the target of a link", async () => {
  const output = await keptOutput();
  await writeFile(output, "");
  const link = join(await temporaryFolder(), "link.csv");
  await symlink(output, link);
  expect(explainInterruption(new InterruptedError("SIGINT"), link, null)).toMatchObject({
    hint: expect.stringContaining("--resume") as string,
  });
});

test("a run that failed keeps its own advice, followed by how to continue", async () => {
  const error = new FatalError("output_disk_full", "the disk is full", { hint: "free some space" });
  expect(explainInterruption(error, await keptOutput(), null)).toMatchObject({
    code: "output_disk_full",
    message: "the disk is full",
    hint: expect.stringMatching(/^free some space\n {2}.*--resume$/) as string,
  });
});

test("the error of a run that never started is unchanged", async () => {
  const error = new UsageError("state_exists", "an interrupted run is there");
  expect(explainInterruption(error, await keptOutput(), null)).toBe(error);
});
