import { expect, test } from "vitest";
import { space, time } from "../../../../src/cli/commands/doctor.js";

const now = Date.parse("2026-01-01T00:00:00Z");

test.each([
  [2e9, "ok"],
  [999e6, "warn"],
  [49e6, "fail"],
])("%d bytes of free space are %s", (free, status) => {
  expect(space("/cache", free)[0]).toBe(status);
});

test.each([
  [now + 30_000, "ok", "agrees with the service"],
  [now + 300_000, "warn", "5 min behind the service"],
  [now - 600_000, "warn", "10 min ahead of the service"],
])("a clock, with the service at %d, is %s", (servedMs, status, finding) => {
  expect(time(servedMs, now).slice(0, 2)).toEqual([status, finding]);
});
