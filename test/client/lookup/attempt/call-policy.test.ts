import { expect, test } from "vitest";
import { ServiceError } from "../../../../src/client/api/status-fault.js";
import { retryCalls } from "../../../../src/client/lookup/attempt/retry.js";
import { Pace } from "../../../../src/client/pace/pace.js";
import { ManualClock } from "../../../helpers/manual-clock.js";
import { unaborted } from "../findings.js";

function policyAt(rate: number | null, retries = 5) {
  const clock = new ManualClock();
  const rates = rate === null ? [] : [{ count: rate, perMs: 1000 }];
  const pace = new Pace({ rates, clock, random: () => 0 });
  const call = retryCalls({ pace, retries, answered: () => true, clock, random: () => 0.5 });
  return { clock, pace, call };
}

/** Fails with each error in turn, then answers. */
function failing(...errors: readonly Error[]): () => Promise<string> {
  let made = 0;
  return () => {
    const error = errors[made++];
    return error ? Promise.reject(error) : Promise.resolve("answer");
  };
}

const reset = new ServiceError("connection_reset", "reset", {
  again: { policy: "transient", afterMs: null },
});
const throttled = new ServiceError("http_429", "too many", {
  httpStatus: 429,
  again: { policy: "throttled", afterMs: 3000 },
});

test("repeats a call after a transient error", async () => {
  const { clock, call } = policyAt(null);
  await expect(clock.run(call(failing(reset, reset), unaborted()))).resolves.toBe("answer");
});

test("throws the last error when retries are used up", async () => {
  const { clock, call } = policyAt(null, 1);
  const made = call(failing(reset, throttled, reset), unaborted());
  await expect(clock.run(made)).rejects.toBe(throttled);
});

test("throws an error at once that a retry cannot fix", async () => {
  const { clock, call } = policyAt(null);
  const refused = new ServiceError("http_400", "no such tag", { httpStatus: 400 });
  await expect(call(failing(refused), unaborted())).rejects.toBe(refused);
  expect(clock.asked).toEqual([]);
});

test("spends from the pace for every attempt", async () => {
  const { clock, call } = policyAt(1);
  await clock.run(call(failing(reset, reset), unaborted()));
  expect(clock.monotonic()).toBe(2000);
});

test("a throttled call pauses everything under the same pace", async () => {
  const { clock, pace, call } = policyAt(null);
  void call(failing(throttled), unaborted());
  await clock.advance(0);
  await clock.run(pace.take(unaborted().signal));
  expect(clock.monotonic()).toBe(3000);
});
