import { expect, test } from "vitest";
import { explainInterruption } from "../../../../../src/cli/commands/enrich/interrupted-run.js";
import {
  EarlyEndError,
  FatalError,
  InterruptedError,
  UsageError,
} from "../../../../../src/core/errors.js";

test("an interrupted run with saved progress says how to continue", () => {
  expect(explainInterruption(new InterruptedError("SIGTERM"), null, true)).toMatchObject({
    signal: "SIGTERM",
    hint: expect.stringContaining("--resume") as string,
  });
});

test("an interrupted run without saved progress says so", () => {
  expect(explainInterruption(new InterruptedError("SIGINT"), null, false)).toMatchObject({
    hint: "nothing was saved; run the command again",
  });
});

test.each([
  [new InterruptedError("SIGINT"), "hint"],
  [new EarlyEndError("deadline_reached", "the deadline 05:30 has passed"), "message"],
  [new FatalError("output_disk_full", "the disk is full"), "hint"],
])("a run that ended early says how far it got (%s)", (error, member) => {
  const reached = "3,456 rows (34%)";
  expect(explainInterruption(error, reached, true)).toMatchObject({
    [member]: expect.stringContaining("3,456 rows (34%) written; ") as string,
  });
});

test("a run that failed keeps its own advice, followed by how to continue", () => {
  const error = new FatalError("output_disk_full", "the disk is full", { hint: "free some space" });
  expect(explainInterruption(error, null, true)).toMatchObject({
    code: "output_disk_full",
    message: "the disk is full",
    hint: expect.stringMatching(/^free some space\n {2}.*--resume$/) as string,
  });
});

test("the error of a run that never started is unchanged", () => {
  const error = new UsageError("state_exists", "an interrupted run is there");
  expect(explainInterruption(error, null, true)).toBe(error);
});
