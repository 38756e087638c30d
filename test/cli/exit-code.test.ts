import { expect, test } from "vitest";
import { EarlyEndError, FatalError, InterruptedError, UsageError } from "../../src/core/errors.js";
import { exitCodeOfError, exitCodeOfRun } from "../../src/jobs/enrich/ending.js";
import { failOn } from "../../src/jobs/enrich/failure-limits.js";
import { OutputClosedError } from "../../src/io/output/part-file.js";

const clean = { complete: 5, partial: 0, invalid: 0, unsupported: 3, failed: 0 };

test.each([
  ["never", { failed: 1, partial: 1, invalid: 1 }, 0],
  ["failed", { failed: 1 }, 3],
  ["failed", { partial: 1, invalid: 1 }, 0],
  ["partial", { failed: 1 }, 3],
  ["partial", { partial: 1 }, 3],
  ["partial", { invalid: 1 }, 0],
  ["invalid", { failed: 1 }, 3],
  ["invalid", { partial: 1 }, 3],
  ["invalid", { invalid: 1 }, 3],
  ["invalid", { unsupported: 3 }, 0],
  ["unsupported", { failed: 1, unsupported: 0 }, 3],
  ["unsupported", { unsupported: 1 }, 3],
  ["unsupported", { unsupported: 0 }, 0],
  // A share is of all rows and counts from that share on.
  ["unsupported:90%", { complete: 10, unsupported: 90 }, 3],
  ["unsupported:90%", { complete: 11, unsupported: 89 }, 0],
  ["unsupported:90%", { complete: 10, unsupported: 80, failed: 10 }, 3],
  ["failed:5%", { complete: 95, unsupported: 0, failed: 5 }, 3],
  ["failed:5%", { complete: 96, unsupported: 0, failed: 4 }, 0],
  ["failed:5%", { complete: 50, unsupported: 50 }, 0],
  ["failed:0%", {}, 0],
  ["failed:0.5%", { complete: 199, unsupported: 0, failed: 1 }, 3],
  ["failed:100%", { complete: 0, unsupported: 0, failed: 7 }, 3],
  ["failed:0%", { complete: 0, unsupported: 0 }, 0],
] as const)("--fail-on %s with %j ends with %i", (text, statuses, code) => {
  expect(exitCodeOfRun(failOn().parse(text), { ...clean, ...statuses })).toBe(code);
});

test.each([
  [new UsageError("input_not_found", "wrong"), 2],
  [new FatalError("input_not_found", "stopped"), 1],
  [new EarlyEndError("input_not_found", "enough"), 75],
  [new InterruptedError("SIGHUP"), 129],
  [new InterruptedError("SIGINT"), 130],
  [new InterruptedError("SIGQUIT"), 131],
  [new InterruptedError("SIGTERM"), 143],
  [new OutputClosedError(null), 0],
  [new TypeError("a fault of the program"), 1],
])("%s exits with its own code", (error, code) => {
  expect(exitCodeOfError(error)).toBe(code);
});
