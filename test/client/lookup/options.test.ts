import { expect, test } from "vitest";
import { paceOf } from "../../../src/client/lookup/options.js";

const perSecond = { count: 100, perMs: 1_000 };
const perMinute = { count: 600, perMs: 60_000 };
const perHour = { count: 5_000, perMs: 3_600_000 };
const perDay = { count: 10_000, perMs: 86_400_000 };

test.each([
  ["the default rate is 100/s", [], false, [perSecond]],
  ["quotas come on top of it", [perDay, perHour], false, [perSecond, perDay, perHour]],
  ["a rate per minute replaces it", [perMinute], false, [perMinute]],
  ["a rate beside a quota replaces it", [perDay, perMinute], false, [perDay, perMinute]],
  ["the embedded service has none", [], true, []],
  ["the embedded service has only a quota", [perDay], true, [perDay]],
])("%s", (_, rate, embedded, expected) => {
  expect(paceOf(rate.length === 0 ? {} : { rate }, embedded)).toEqual(expected);
});
