import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { parseTimestamp, systemClock } from "../../src/core/clock.js";

const isoMicros = (text: string): bigint => BigInt(Date.parse(text)) * 1000n;

it.each([
  ["1970-01-01T00:00:00Z", 0n],
  ["2026-01-02T03:04:05Z", isoMicros("2026-01-02T03:04:05Z")],
  ["2026-01-02 03:04:05Z", isoMicros("2026-01-02T03:04:05Z")],
  ["2026-01-02T03:04:05.123456Z", isoMicros("2026-01-02T03:04:05.123Z") + 456n],
  ["2026-01-02T03:04:05.123456789Z", isoMicros("2026-01-02T03:04:05.123Z") + 456n],
  ["2026-01-02T03:04:05+05:30", isoMicros("2026-01-01T21:34:05Z")],
  ["2026-01-02T03:04:05-08:00", isoMicros("2026-01-02T11:04:05Z")],
  ["2016-12-31T23:59:60Z", isoMicros("2017-01-01T00:00:00Z")],
  ["0001-01-01T00:00:00Z", isoMicros("0001-01-01T00:00:00Z")],
  ["9999-12-31T23:59:59.999999Z", isoMicros("9999-12-31T23:59:59.999Z") + 999n],
])("reads %s", (text, micros) => {
  expect(parseTimestamp(text)).toBe(micros);
});

it.each([
  "",
  "2026-01-02",
  "2026-01-02T03:04:05",
  "2026-04-31T03:04:05Z",
  "2026-02-29T00:00:00Z",
  "2026-01-02T03:04:61Z",
  "2026-01-02T03:04:05+5:30",
  "2026-01-02T03:04:05Z ",
  "0000-01-01T00:00:00Z",
])("rejects %j", (text) => {
  expect(parseTimestamp(text)).toBeNull();
});

it("reads every time that a Date can be written as", () => {
  const min = new Date("0001-01-01T00:00:00Z");
  const max = new Date("9999-12-31T23:59:59.999Z");
  fc.assert(
    fc.property(fc.date({ min, max, noInvalidDate: true }), (date) => {
      expect(parseTimestamp(date.toISOString())).toBe(BigInt(date.getTime()) * 1000n);
    }),
  );
});

it("sleeps to a fraction of a millisecond if asked to, and never too short", async () => {
  const late: number[] = [];
  for (let n = 0; n < 20; n++) {
    const until = performance.now() + 2.3;
    await systemClock.sleep(2.3, undefined, true);
    late.push(performance.now() - until);
  }
  expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
  // The next whole millisecond is 0.7 ms too late.
  expect(Math.min(...late)).toBeLessThan(0.5);
});

it("lets requests leave that were released right before an exact sleep", async () => {
  const events: string[] = [];
  const wait = vi.spyOn(Atomics, "wait").mockImplementation(() => {
    events.push("blocked");
    return "timed-out";
  });
  const slept = systemClock.sleep(1, undefined, true);
  void Promise.resolve().then(() => setImmediate(() => events.push("left")));
  await slept;
  wait.mockRestore();
  expect(events[0]).toBe("left");
});

it("stops an exact sleep when its signal aborts", async () => {
  const controller = new AbortController();
  const slept = systemClock.sleep(1e9, controller.signal, true);
  controller.abort(new Error("enough"));
  await expect(slept).rejects.toThrow("enough");
});
