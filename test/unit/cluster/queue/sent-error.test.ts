import { expect, test } from "vitest";
import { EarlyEndError, FatalError, UsageError } from "../../../../src/core/errors.js";
import { receiveError, sendError } from "../../../../src/cluster/queue/sent-error.js";

test.each([
  new UsageError("workers_option", "another service", { hint: "name the same" }),
  new EarlyEndError("quota_used_up", "the quota is used up"),
  new FatalError("worker_failed", "out of memory"),
])("an error arrives as it was sent: %s", (error) => {
  const received = receiveError(JSON.parse(JSON.stringify(sendError(error))));
  expect(received).toBeInstanceOf(error.constructor);
  const { code, message, hint } = error;
  expect(received).toMatchObject({ code, message });
  expect(received.hint).toBe(hint);
});
