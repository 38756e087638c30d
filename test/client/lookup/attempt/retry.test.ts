import { expect, test } from "vitest";
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
  quick,
  scripted,
  unaborted,
} from "../findings.js";

type Options = Partial<Parameters<typeof retry>[0]>;

const reset = attempt(failed("connection_reset"), "transient");
const throttled = attempt(failed("http_429", 429), "throttled");
const lacksTags = attempt(partial({ asn: "AS64500", tags: null }, ["tags"]), "partial");
const whole = attempt(complete());

/** What a lookup makes of attempts, of which the earlier ones were made before an interruption. */
async function outcome(
  attempts: readonly Attempt[],
  options: Options = {},
  earlier: Attempt[] = [],
): Promise<{ finding: Finding; asked: number; slept: readonly number[] }> {
  const clock = new ManualClock();
  const next = scripted(...attempts);
  const defaults = { retries: 5, partialRetries: 2, clock, random: () => 0.5 };
  const history = { outcomes: [], attempts: earlier, journalled: false };
  const lookup = retry({ ...defaults, ...options })(next);
  const finding = await clock.run(lookup(item, { ...unaborted(), history }));
  return { finding, asked: next.asked.length, slept: clock.asked };
}

const twice = { retries: 2 };
const keptParts = { ...lacksTags.finding, attempts: 4 };

test.each<[string, Attempt[], Options, asked: number, Partial<Finding>, earlier?: Attempt[]]>([
  ["retries errors", [reset, throttled, reset, whole], {}, 4, { status: "complete" }],
  ["counts retries of both kinds together", [throttled, reset], twice, 3, { status: "failed" }],
  ["ends as the last attempt", [reset, throttled], twice, 3, { ...throttled.finding, attempts: 3 }],
  ["keeps a partial answer before errors", [lacksTags, reset], twice, 4, keptParts],
  ["keeps a partial one before 400", [lacksTags, attempt(invalid())], {}, 2, { status: "partial" }],
  ["resumes with what remains", [reset], twice, 1, { attempts: 3 }, [reset, reset]],
  ["resumes with an earlier partial answer", [reset], twice, 3, keptParts, [lacksTags]],
])("%s", async (_, attempts, options, asked, finding, earlier) => {
  expect(await outcome(attempts, options, earlier)).toMatchObject({ finding, asked });
});

test.each([
  ["dns_failure", false, 3],
  ["dns_failure", true, 6],
  ["connect_refused", false, 6],
] as const)("%s (answered: %s) ends after %i attempts", async (code, answered, attempts) => {
  const { asked } = await outcome([attempt(failed(code), "transient")], {
    answered: () => answered,
  });
  expect(asked).toBe(attempts);
});

const doubling = [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000];

const eightTimes = (chance: number): Options => ({ retries: 8, random: () => chance });
const wish = attempt(failed("http_503", 503), "throttled", 8000);

test.each<[string, Attempt[], Options, unknown[]]>([
  ["shortly after a partial answer", [lacksTags], {}, [125, 250]],
  ["as long as the service asks, plus jitter", [wish, whole], {}, [8250]],
  ["no time after an error", [reset], eightTimes(0), doubling.map(() => 0)],
  [
    "up to a bound after an error, which doubles up to half a minute",
    [reset],
    eightTimes(0.999_999),
    doubling.map((ms) => expect.closeTo(ms, 0) as unknown),
  ],
])("waits %s", async (_, attempts, options, waits) => {
  expect((await outcome(attempts, options)).slept).toEqual(waits);
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

const asn = { countryCode: "US", asn: "AS64500", name: "Example" };
const earlierText = '{"asn": {"asn":"AS64500","n":1.0}, "tags":null, "x":1}';
const laterText = '{ "asn":null,"tags":[ "a:b" ],"n":123456789012345678901,"__proto__":0}';

const mergedText =
  '{"asn":{"asn":"AS64500","n":1.0},"tags":[ "a:b" ],"n":123456789012345678901,"__proto__":0}';
const answered = (result: object, more: object = {}) => ({
  answers: { query: { result, ...more } },
});
const noAsn = partial({ intent: "none", asn: null }, ["asn"]);

test.each<[string, Finding[], object]>([
  [
    "prefer the most complete one, whenever it came",
    [noAsn, partial({ intent: null, asn: null }, ["intent", "asn"])],
    { missing: ["asn"], answers: noAsn.answers },
  ],
  [
    "fill the gaps of a later one from an earlier one, with its text as received",
    [
      partial({ asn, tags: null }, ["tags"], earlierText),
      partial({ asn: null, tags: ["a:b"] }, ["asn"], laterText),
    ],
    answered({ asn, tags: ["a:b"] }, { text: mergedText }),
  ],
  [
    "lack what none had, in the order of the interface",
    [partial({}, ["tags", "intent", "asn"]), partial({}, ["tags", "firstSeen", "asn"])],
    { missing: ["tags", "asn"] },
  ],
  [
    "take members from the latest one that has them",
    [
      partial({ intent: "malicious", asn: "first" }, ["tags", "firstSeen"]),
      partial({ intent: "unknown", asn: null }, ["asn", "tags", "firstSeen"]),
      partial({ intent: null, asn: null, tags: [] }, ["intent", "asn"]),
    ],
    answered({ intent: "unknown", asn: "first", tags: [] }),
  ],
  [
    "take nothing from one of another type",
    [partial({ type: "DOMAIN", intent: "none" }, ["tags"]), partial({ intent: null }, ["intent"])],
    { missing: ["intent"], ...answered({ intent: null }) },
  ],
  [
    "take the blocklist status under the service's name for it",
    [
      partial({ abusixMailBlocklist: "ACTIVE", tags: null }, ["tags"]),
      partial({ abusixMailBlocklist: null, tags: [] }, ["serviceMailBlocklist"]),
    ],
    answered({ abusixMailBlocklist: "ACTIVE" }),
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
  const attempts = parts.map((each) => attempt({ ...each, status: "partial" }, "partial"));
  const { finding } = await outcome(attempts, { partialRetries: parts.length - 1 });
  expect(finding).toMatchObject(expected);
});
