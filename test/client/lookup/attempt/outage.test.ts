import { expect, test } from "vitest";
import type { Attempt } from "../../../../src/core/finding.js";
import { AddressWatch } from "../../../../src/client/lookup/address-watch.js";
import { Outage } from "../../../../src/client/lookup/attempt/outage.js";
import { attempt } from "../findings.js";
import { aFinding, anItem } from "../../../helpers/enriched-rows.js";
import { ManualClock } from "../../../helpers/manual-clock.js";

const broken = brokenBy("connect_refused");

const left = { code: "service_unreachable" };
const kept = { status: "failed" };

test.each([
  ["connect_refused", 1, false, left],
  ["connection_reset", 6, false, left],
  ["connection_reset", 1, false, kept],
  ["timeout", 1, false, kept],
  ["connect_refused", 1, true, kept],
])("%s in %i attempts (answered: %s) ends in %j", async (code, attempts, known, end) => {
  const error = { code, message: "no answer" };
  const finding = aFinding({ status: "failed", httpStatus: null, attempts, error });
  const wrap = new AddressWatch("https://intel.example").failFast(() => known);
  const { signal } = new AbortController();
  const asked = wrap(() => Promise.resolve(finding))(anItem, { signal, row: 1 });
  expect(await asked.catch((fault: unknown) => fault)).toMatchObject(end);
});

test("opens after many errors at once", async () => {
  const service = serviceOf(() => broken);
  for (let n = 0; n < 63; n++) await service.ask();
  void service.ask().catch(() => undefined);
  await service.clock.advance(0);
  expect(service.outage.open).toBe(true);
});

test("stays closed if answers come in between", async () => {
  const service = serviceOf((n) => (n % 10 === 0 ? attempt(aFinding()) : broken));
  for (let n = 0; n < 100; n++) {
    await service.clock.advance(1_000);
    await service.ask();
  }
  expect(service.outage.open).toBe(false);
});

test("holds all lookups back, probes one at a time at growing intervals, and continues after an answer", async () => {
  let back = false;
  const service = serviceOf(() => (back ? attempt(aFinding()) : broken));
  await trip(service);
  const before = service.asked();
  const held = Array.from({ length: 20 }, () => service.ask());
  await service.clock.advance(1_000 + 2_000 + 4_000 + 8_000);
  expect(service.asked() - before).toBe(4);
  back = true;
  const attempts = await service.clock.run(Promise.all(held));
  expect(attempts.every(({ finding }) => finding.status === "complete")).toBe(true);
  expect(service.said.at(-1)).toMatch(/answers again/);
});

test("ends the run for everyone when patience runs out", async () => {
  const service = serviceOf(() => broken);
  await trip(service);
  const held = Promise.allSettled([service.ask(), service.ask(), service.ask()]);
  const message = expect.stringMatching(/^nothing but errors from http/) as string;
  const ended = { status: "rejected", reason: { code: "service_outage", message } };
  expect(await service.clock.run(held)).toMatchObject([ended, ended, ended]);
  expect(service.clock.monotonic()).toBeLessThan(12 * 60_000);
});

test.each([
  ["connect_refused", false, "service_unreachable", 15_000],
  ["dns_failure", false, "service_unreachable", 2_000],
  ["dns_failure", true, "service_outage", 600_000],
] as const)("gives up after %s (answered before: %s)", async (fault, answered, code, afterMs) => {
  const service = serviceOf(() => brokenBy(fault), answered);
  for (let n = 0; n < 63 && !service.outage.open; n++) void service.ask().catch(() => undefined);
  await expect(service.clock.run(service.ask())).rejects.toMatchObject({ code });
  expect(service.clock.monotonic()).toBe(afterMs);
});

test.each([
  ["when the patience ends", null, 600_000],
  ["when the service asked to be asked again", 3_600_000, 3_600_000],
])("ends the run %s, while a probe waits", async (_, afterMs, endMs) => {
  const throttled = { ...broken, again: { policy: "throttled", afterMs } as const };
  const service = serviceOf((n) => (n > 64 ? new Promise<Attempt>(() => undefined) : throttled));
  let reason: unknown = null;
  for (let n = 0; n < 63; n++) await service.ask();
  service.ask().catch((fault: unknown) => (reason = fault));
  await service.clock.advance(endMs - 1);
  expect(reason).toBeNull();
  await service.clock.advance(1);
  expect(reason).toMatchObject({ code: "service_outage" });
  expect(service.clock.pending).toBe(0);
});

test("waits for a late probe once another attempt was answered", async () => {
  let answer: (late: Attempt) => void = () => undefined;
  const late = new Promise<Attempt>((resolve) => (answer = resolve));
  const service = serviceOf((n) => (n === 1 || n > 65 ? late : broken));
  const slow = service.ask();
  for (let n = 0; n < 64; n++) void service.ask();
  await service.clock.advance(599_000);
  expect(service.outage.open).toBe(true);
  answer(attempt(aFinding()));
  await slow;
  expect(service.outage.open).toBe(false);
  await service.clock.advance(600_000);
  expect(service.said.at(-1)).toMatch(/answers again/);
});

test("passes the probe on when the prober leaves", async () => {
  const service = serviceOf(() => broken);
  await trip(service);
  const leaving = new AbortController();
  const first = service.ask(leaving).catch(() => "left");
  const second = service.ask().catch(() => "ended");
  leaving.abort(new Error("leave"));
  expect(await first).toBe("left");
  const before = service.asked();
  await service.clock.run(second);
  expect(service.asked()).toBeGreaterThan(before);
});

function brokenBy(code: string): Attempt {
  const error = { code, message: `it failed with ${code}` };
  return attempt(aFinding({ status: "failed", httpStatus: null, error }), "transient");
}

function serviceOf(answer: (n: number) => Attempt | Promise<Attempt>, answered = true) {
  const clock = new ManualClock();
  const said: string[] = [];
  let asked = 0;
  const outage = new Outage({
    patienceMs: 600_000,
    address: "http://127.0.0.1:1/beta",
    answered: () => answered,
    clock,
    onChange: (message) => said.push(message),
  });
  const lookup = outage.hold(async () => answer(++asked));
  const ask = ({ signal } = new AbortController()) => lookup(anItem, { signal });
  return { clock, outage, said, ask, asked: () => asked };
}

/** Causes an outage; leaves the last failing attempt held back. */
async function trip(service: ReturnType<typeof serviceOf>): Promise<void> {
  for (let n = 0; n < 15; n++) await service.ask();
  await service.clock.advance(2_000);
  void service.ask().catch(() => undefined);
  await service.clock.advance(0);
  expect(service.outage.open).toBe(true);
}
