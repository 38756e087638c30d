import { describe, expect, test } from "vitest";
import type { Attempt, Finding } from "../../../../src/core/finding.js";
import { retry, backoffMs } from "../../../../src/client/lookup/attempt/retry.js";
import { ManualClock } from "../../../helpers/manual-clock.js";
import { complete, failed, invalid, item, partial, scripted, unaborted } from "../attempts.js";

const reset = failed("connection_reset", "transient");
const throttled = failed("http_429", "throttled", null, 429);

async function outcome(
  attempts: readonly Attempt[],
  options: {
    retries?: number;
    partialRetries?: number;
    random?: number;
    answered?: () => boolean;
  } = {},
): Promise<{ finding: Finding; asked: number; slept: readonly number[] }> {
  const clock = new ManualClock();
  const next = scripted(...attempts);
  const lookup = retry({
    retries: options.retries ?? 5,
    partialRetries: options.partialRetries ?? 2,
    ...(options.answered && { answered: options.answered }),
    clock,
    random: () => options.random ?? 0.5,
  })(next);
  const finding = await clock.run(lookup(item, unaborted()));
  return { finding, asked: next.asked.length, slept: clock.asked };
}

describe("transient errors", () => {
  test("are retried until an answer comes", async () => {
    const { finding, asked } = await outcome([reset, throttled, reset, complete()]);
    expect([finding.status, asked]).toEqual(["complete", 4]);
  });

  test("share one number of retries with throttle answers", async () => {
    const { finding, asked } = await outcome([throttled, reset, throttled, reset], { retries: 3 });
    expect([finding.status, asked]).toEqual(["failed", 4]);
  });

  test.each([
    ["dns_failure", false, 3],
    ["dns_failure", true, 6],
    ["connect_refused", false, 6],
  ] as const)("end %s (answered: %s) after %i attempts", async (code, answered, attempts) => {
    const fault = failed(code, "transient");
    const { asked } = await outcome(Array<Attempt>(6).fill(fault), { answered: () => answered });
    expect(asked).toBe(attempts);
  });

  test("end in the finding of the last attempt, counting all attempts", async () => {
    const { finding } = await outcome([reset, throttled], { retries: 1 });
    expect(finding).toEqual({ ...throttled.finding, attempts: 2 });
  });

  test("wait as long as the service asks, plus jitter", async () => {
    const wish = failed("http_503", "throttled", 8000, 503);
    const { slept } = await outcome([wish, complete()]);
    expect(slept).toEqual([8250]);
  });
});

describe("an answer that is not the service's", () => {
  const page = failed("response_schema", "once", null, 200);

  test("is retried once", async () => {
    const { finding, asked } = await outcome([page]);
    expect([finding.error?.code, asked]).toEqual(["response_schema", 2]);
  });
});

describe("partial answers", () => {
  const lacksTags = partial({ asn: "AS64500", tags: null }, ["tags"]);

  test("are retried as often as allowed", async () => {
    const { finding, asked } = await outcome([lacksTags]);
    expect([finding.status, asked, finding.attempts]).toEqual(["partial", 3, 3]);
  });

  test("are retried after a short wait", async () => {
    const { slept } = await outcome([lacksTags]);
    expect(slept).toEqual([125, 250]);
  });

  test("are kept if only errors follow", async () => {
    const { finding } = await outcome([lacksTags, reset], { retries: 2 });
    expect([finding.status, finding.answers.query?.result["asn"], finding.attempts]).toEqual([
      "partial",
      "AS64500",
      4,
    ]);
  });

  test("are kept if a 400 follows", async () => {
    const { finding, asked } = await outcome([lacksTags, invalid()]);
    expect([finding.status, asked]).toEqual(["partial", 2]);
  });
});

test("aborting ends a wait with the signal's reason", async () => {
  const clock = new ManualClock();
  const controller = new AbortController();
  const lookup = retry({ retries: 5, partialRetries: 2, clock })(scripted(reset));
  const waiting = lookup(item, { signal: controller.signal });
  await clock.advance(0);
  controller.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
});

describe("after an interruption", () => {
  const part = partial({ tags: ["a"] }, ["verdict"]);

  function begunWith(earlier: Attempt[], ...attempts: Attempt[]) {
    const clock = new ManualClock();
    const next = scripted(...attempts);
    const lookup = retry({ retries: 2, partialRetries: 1, clock, random: () => 0.5 })(next);
    const options = {
      ...unaborted(),
      history: { outcomes: [], attempts: earlier, journalled: false, drift: [] },
    };
    return clock.run(lookup(item, options)).then((finding) => ({ finding, asked: next.asked }));
  }

  test("only the remaining attempts are made", async () => {
    const { finding, asked } = await begunWith([reset, reset], reset, reset);
    expect([asked.length, finding.attempts, finding.status]).toEqual([1, 3, "failed"]);
  });

  test("earlier partial data is kept", async () => {
    const { finding } = await begunWith([part], reset, reset, reset);
    expect([finding.attempts, finding.status]).toEqual([4, "partial"]);
  });
});

test("doubles the bound of the wait from half a second", () => {
  expect([0, 1, 2, 3].map((retry) => backoffMs(retry, 0.999_999, null))).toEqual([
    expect.closeTo(500, 0),
    expect.closeTo(1000, 0),
    expect.closeTo(2000, 0),
    expect.closeTo(4000, 0),
  ]);
});

test("waits for any time below the bound, down to none", () => {
  expect([backoffMs(3, 0, null), backoffMs(3, 0.5, null)]).toEqual([0, 2000]);
});

test("never waits longer than half a minute", () => {
  expect(backoffMs(5000, 0.5, null)).toBe(15_000);
});
