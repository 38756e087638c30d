import { expect, test } from "vitest";
import { paceOf } from "../../../src/client/lookup/options.js";

const perSecond = { count: 100, perMs: 1_000 };
const perMinute = { count: 600, perMs: 60_000 };
const perHour = { count: 5_000, perMs: 3_600_000 };
const perDay = { count: 10_000, perMs: 86_400_000 };

test("the default rate is 100/s", () => {
  expect(paceOf({}, false)).toEqual([perSecond]);
});

test("quotas come on top of the default rate", () => {
  expect(paceOf({ rate: [perDay, perHour] }, false)).toEqual([perSecond, perDay, perHour]);
});

test("a rate per second or minute replaces the default rate", () => {
  expect(paceOf({ rate: [perMinute] }, false)).toEqual([perMinute]);
  expect(paceOf({ rate: [perDay, perMinute] }, false)).toEqual([perDay, perMinute]);
});

test("the embedded service has no default rate", () => {
  expect(paceOf({}, true)).toEqual([]);
  expect(paceOf({ rate: [perDay] }, true)).toEqual([perDay]);
});
