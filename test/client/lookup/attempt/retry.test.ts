import { describe, expect, test } from "vitest";
import type { Attempt, Finding } from "../../../../src/core/finding.js";
import { retry } from "../../../../src/client/lookup/attempt/retry.js";
import { ManualClock } from "../../../helpers/manual-clock.js";
import {
  attempt,
  complete,
  failed,
  invalid,
  item,
  partial,
  scripted,
  unaborted,
} from "../attempts.js";
import * as findings from "../findings.js";

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

describe("partial answers", () => {
  const lacksTags = partial({ asn: "AS64500", tags: null }, ["tags"]);

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

test.each([
  [0.999_999, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]],
  [0, [0, 0, 0, 0, 0, 0, 0, 0]],
])(
  "waits for any time below a bound that doubles up to half a minute: %d",
  async (random, waits) => {
    const { slept } = await outcome([reset], { retries: 8, random });
    expect(slept).toEqual(waits.map((ms) => expect.closeTo(ms, 0)));
  },
);

const asn = { countryCode: "US", asn: "AS64500", name: "Example" };
const earlierText = '{"asn": {"asn":"AS64500","n":1.0}, "tags":null, "x":1}';
const laterText = '{ "asn":null,"tags":[ "a:b" ],"n":123456789012345678901,"__proto__":0}';
const { partial: part, quick } = findings;

test.each<[string, Finding[], object]>([
  [
    "prefer the most complete one, whenever it came",
    [
      part({ intent: "none", asn: null }, ["asn"]),
      part({ intent: null, asn: null }, ["intent", "asn"]),
    ],
    { missing: ["asn"], answers: part({ intent: "none", asn: null }, []).answers },
  ],
  [
    "fill the gaps of a later one from an earlier one, with its text as received",
    [
      part({ asn, tags: null }, ["tags"], earlierText),
      part({ asn: null, tags: ["a:b"] }, ["asn"], laterText),
    ],
    {
      answers: {
        query: {
          result: { asn, tags: ["a:b"] },
          text: '{"asn":{"asn":"AS64500","n":1.0},"tags":[ "a:b" ],"n":123456789012345678901,"__proto__":0}',
        },
      },
    },
  ],
  [
    "lack what none had, in the order of the interface",
    [part({}, ["tags", "intent", "asn"]), part({}, ["tags", "firstSeen", "asn"])],
    { missing: ["tags", "asn"] },
  ],
  [
    "take members from the latest one that has them",
    [
      part({ intent: "malicious", asn: "first" }, ["tags", "firstSeen"]),
      part({ intent: "unknown", asn: null }, ["asn", "tags", "firstSeen"]),
      part({ intent: null, asn: null, tags: [] }, ["intent", "asn"]),
    ],
    { answers: { query: { result: { intent: "unknown", asn: "first", tags: [] } } } },
  ],
  [
    "take nothing from one of another type",
    [part({ type: "DOMAIN", intent: "none" }, ["tags"]), part({ intent: null }, ["intent"])],
    { missing: ["intent"], answers: { query: { result: { intent: null } } } },
  ],
  [
    "take the blocklist status under the service's name for it",
    [
      part({ abusixMailBlocklist: "ACTIVE", tags: null }, ["tags"]),
      part({ abusixMailBlocklist: null, tags: [] }, ["serviceMailBlocklist"]),
    ],
    { answers: { query: { result: { abusixMailBlocklist: "ACTIVE" } } } },
  ],
  [
    "of a quick check merge as well",
    [
      { ...quick({ type: "IP", intent: "none" }), missing: ["activity"] },
      { ...quick({ type: "IP", intent: null, activity: true }), missing: ["intent"] },
    ],
    { answers: { "quick-check": { result: { type: "IP", intent: "none", activity: true } } } },
  ],
])("answers in part %s", async (_, parts, expected) => {
  const again = { policy: "partial", afterMs: null } as const;
  const attempts = parts.map((each) => attempt({ ...each, status: "partial" }, again));
  const { finding } = await outcome(attempts, { partialRetries: parts.length - 1 });
  expect(finding).toMatchObject(expected);
});
