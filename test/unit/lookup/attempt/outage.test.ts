import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import type { Attempt } from "../../../../src/core/attempt.js";
import type { ErrorCode } from "../../../../src/core/error-codes.js";
import type { Finding } from "../../../../src/core/finding.js";
import { withBreaker } from "../../../../src/lookup/attempt/breaker.js";
import { failFast } from "../../../../src/lookup/attempt/fail-fast.js";
import { Outage } from "../../../../src/lookup/attempt/outage.js";
import type { AttemptLookup } from "../../../../src/lookup/types.js";
import { attempt } from "../attempts.js";
import { aFinding, anItem } from "../../../helpers/enriched-rows.js";
import { ManualClock } from "../../../helpers/manual-clock.js";

const broken = brokenBy("connect_refused");

describe("failFast", () => {
  const asked = (code: ErrorCode, attempts: number, known = false): Promise<Finding> => {
    const error = { code, message: "no answer" };
    const failed = aFinding({ status: "failed", httpStatus: null, attempts, error });
    const wrap = failFast({ address: "https://intel.example", answered: () => known });
    const { signal } = new AbortController();
    return wrap(() => Promise.resolve(failed))(anItem, { signal, row: 1 });
  };

  it.each([
    ["connect_refused", 1],
    ["connection_reset", 6],
  ] as const)("ends the run if nothing answers: %s in %i attempts", async (code, attempts) => {
    await expect(asked(code, attempts)).rejects.toMatchObject({ code: "service_unreachable" });
  });

  it.each([
    ["connection_reset", false],
    ["timeout", false],
    ["connect_refused", true],
  ] as const)("goes on after %s (answered: %s)", async (code, known) => {
    await expect(asked(code, 1, known)).resolves.toMatchObject({ error: { code } });
  });
});

describe("Outage", () => {
  it("passes single errors on to the retries", async () => {
    const service = serviceOf(() => broken);
    for (let n = 0; n < 15; n++) expect(await service.ask()).toBe(broken);
    expect(service.outage.open).toBe(false);
  });

  it("opens after many errors at once", async () => {
    const service = serviceOf(() => broken);
    for (let n = 0; n < 63; n++) await service.ask();
    void service.ask().catch(() => undefined);
    await service.clock.advance(0);
    expect(service.outage.open).toBe(true);
  });

  it("stays closed if answers come in between", async () => {
    const service = serviceOf((n) => (n % 10 === 0 ? attempt(aFinding()) : broken));
    for (let n = 0; n < 100; n++) {
      await service.clock.advance(1_000);
      await service.ask();
    }
    expect(service.outage.open).toBe(false);
  });

  it("holds all lookups back, probes one at a time at growing intervals, and continues after an answer", async () => {
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

  it("ends the run for everyone when patience runs out", async () => {
    const service = serviceOf(() => broken);
    await trip(service);
    const held = Promise.allSettled([service.ask(), service.ask(), service.ask()]);
    const ends = await service.clock.run(held);
    for (const end of ends) {
      expect(end).toMatchObject({ status: "rejected", reason: { code: "service_outage" } });
    }
    expect(service.clock.monotonic()).toBeLessThan(12 * 60_000);
  });

  it("waits only briefly for a service that has never answered", async () => {
    const service = serviceOf(() => broken, false);
    await trip(service);
    await expect(service.clock.run(service.ask())).rejects.toMatchObject({
      code: "service_unreachable",
    });
    expect(service.clock.monotonic()).toBe(15_000);
  });

  it("waits 2 s for a host name that was never resolved", async () => {
    const service = serviceOf(() => brokenBy("dns_failure"), false);
    await expect(service.clock.run(service.ask())).rejects.toMatchObject({
      code: "service_unreachable",
      hint: "check the spelling of the address, and DNS",
    });
    expect(service.clock.monotonic()).toBe(2_000);
  });

  it("waits with full patience if name resolution fails once the service has answered", async () => {
    const service = serviceOf(() => brokenBy("dns_failure"));
    await trip(service);
    await expect(service.clock.run(service.ask())).rejects.toMatchObject({
      code: "service_outage",
    });
    expect(service.clock.monotonic()).toBe(600_000);
  });

  it("ends the run a second after the patience at most, while a probe waits for a pause to end", async () => {
    const { service, held } = await outageWithHeldProbe(null);
    await service.clock.advance(600_999);
    expect(held.reason).toBeNull();
    await service.clock.advance(1);
    expect(held.reason).toMatchObject({ code: "service_outage" });
    expect(service.clock.pending).toBe(0);
  });

  it("waits as long as the service asked, beyond the patience", async () => {
    const { service, held } = await outageWithHeldProbe(3_600_000);
    await service.clock.advance(3_600_999);
    expect(held.reason).toBeNull();
    await service.clock.advance(1);
    expect(held.reason).toMatchObject({ code: "service_outage" });
  });

  it("waits for a late probe once another attempt was answered", async () => {
    const { service, held } = await outageWithHeldProbe(null);
    await service.clock.advance(599_000);
    service.outage.succeeded();
    await service.clock.advance(600_000);
    expect(held.reason).toBeNull();
  });

  it("releases at once when the run is stopped", async () => {
    const service = serviceOf(() => broken);
    await trip(service);
    const held = Promise.allSettled([service.ask(), service.ask()]);
    await service.clock.advance(10);
    service.abort.abort(new Error("stop"));
    for (const end of await held) expect(end).toMatchObject({ reason: { message: "stop" } });
  });

  it("passes the probe on when the prober leaves", async () => {
    const service = serviceOf(() => broken);
    await trip(service);
    const leaving = new AbortController();
    const first = service.lookup(anItem, { signal: leaving.signal }).catch(() => "left");
    const second = service.ask().catch(() => "ended");
    leaving.abort(new Error("leave"));
    expect(await first).toBe("left");
    const before = service.asked();
    await service.clock.run(second);
    expect(service.asked()).toBeGreaterThan(before);
  });

  it("keeps no probe waiting once the outage is over", async () => {
    const service = serviceOf(() => broken);
    const held: Promise<unknown>[] = [];
    for (let outage = 0; outage < 12; outage++) {
      for (let n = 0; n < 64; n++) held.push(service.ask().catch(() => undefined));
      await service.clock.advance(0);
      expect(service.outage.open).toBe(true);
      service.outage.succeeded();
      await service.clock.advance(0);
    }
    expect(getEventListeners(service.abort.signal, "abort").length).toBeLessThanOrEqual(2);
    service.abort.abort(new Error("stop"));
    await Promise.all(held);
  });

  it("schedules one probe at a time, even if earlier attempts fail late", async () => {
    const service = serviceOf(() => broken);
    await trip(service);
    const held = Array.from({ length: 20 }, () => service.ask().catch(() => undefined));
    for (let n = 0; n < 20; n++) service.outage.failed(broken);
    await service.clock.advance(0);
    expect(service.clock.pending).toBe(1);
    service.abort.abort(new Error("stop"));
    await Promise.all(held);
  });

  it("lets another lookup probe when an open probe is aborted", async () => {
    const leaving = new AbortController();
    const service = serviceOf((n) => {
      if (n === 18) throw leaving.signal.reason;
      return n < 18 ? broken : attempt(aFinding());
    });
    await trip(service);
    leaving.abort(new Error("leave"));
    expect(await service.clock.run(service.ask())).toMatchObject({ outcome: "200" });
  });
});

/** An outage at 0 s whose first probe never ends. */
async function outageWithHeldProbe(afterMs: number | null) {
  const throttled = { ...broken, again: { policy: "throttled", afterMs } as const };
  const service = serviceOf((n) => (n > 64 ? new Promise<Attempt>(() => undefined) : throttled));
  const held: { reason: unknown } = { reason: null };
  for (let n = 0; n < 63; n++) await service.ask();
  service.ask().catch((reason: unknown) => (held.reason = reason));
  await service.clock.advance(0);
  return { service, held };
}

function brokenBy(code: ErrorCode): Attempt {
  const error = { code, message: `it failed with ${code}` };
  return attempt(aFinding({ status: "failed", httpStatus: null, error }), {
    policy: "transient",
    afterMs: null,
  });
}

interface TestService {
  readonly clock: ManualClock;
  readonly outage: Outage;
  readonly abort: AbortController;
  readonly said: string[];
  readonly lookup: AttemptLookup;
  ask(): Promise<Attempt>;
  asked(): number;
}

function serviceOf(
  answer: (n: number) => Attempt | Promise<Attempt>,
  answered = true,
): TestService {
  const clock = new ManualClock();
  const abort = new AbortController();
  const said: string[] = [];
  let asked = 0;
  const outage = new Outage({
    patienceMs: 600_000,
    address: "http://127.0.0.1:1/beta",
    answered: () => answered,
    clock,
    onChange: (message) => said.push(message),
  });
  const lookup = withBreaker(outage)(async () => answer(++asked));
  return {
    clock,
    outage,
    abort,
    said,
    lookup,
    ask: () => lookup(anItem, { signal: abort.signal }),
    asked: () => asked,
  };
}

/** Causes an outage; leaves the last failing attempt held back. */
async function trip(service: TestService): Promise<void> {
  for (let n = 0; n < 15; n++) await service.ask();
  await service.clock.advance(2_000);
  void service.ask().catch(() => undefined);
  await service.clock.advance(0);
  expect(service.outage.open).toBe(true);
}
