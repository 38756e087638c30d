import type { LookupAddress } from "node:dns";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createDispatcher, sharedLookup } from "../../../../src/client/api/http/dispatcher.js";

const system = vi.hoisted(() => vi.fn<() => Promise<LookupAddress[]>>());
vi.mock("node:dns/promises", () => ({ lookup: system }));

const host = "intel.example.com";
const found: LookupAddress[] = [{ address: "192.0.2.7", family: 4 }];
const notFound = Object.assign(new Error("not found"), { code: "ENOTFOUND" });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A resolver whose lookups end as told. */
function resolving(end: () => Promise<LookupAddress[]>) {
  const resolve = vi.fn(end);
  const shared = sharedLookup(resolve);
  const ask = (all = true) => new Promise((done) => shared(host, { all }, (...args) => done(args)));
  return { ask, asked: () => resolve.mock.calls.length };
}

test("connections that open together share one lookup", async () => {
  const { ask, asked } = resolving(() => Promise.resolve(found));
  await expect(Promise.all([ask(), ask(false)])).resolves.toEqual([
    [null, found],
    [null, "192.0.2.7", 4],
  ]);
  expect(asked()).toBe(1);
});

test("looks a name up again for a later connection", async () => {
  const { ask, asked } = resolving(() => Promise.resolve(found));
  for (let n = 0; n < 2; n++) await ask();
  expect(asked()).toBe(2);
});

test("remembers a failure for half a second", async () => {
  const { ask, asked } = resolving(() => Promise.reject(notFound));
  for (const ms of [0, 499, 1]) {
    vi.advanceTimersByTime(ms);
    await expect(ask()).resolves.toEqual([notFound, ""]);
  }
  expect(asked()).toBe(2);
});

test("a dispatcher asks once for a host name that does not exist, however many requests are open", async () => {
  system.mockRejectedValue(notFound);
  const dispatcher = createDispatcher(`http://${host}`, { connections: 32, env: {} });
  const requests = Array.from({ length: 32 }, () =>
    dispatcher.request({ path: "/", method: "GET" }),
  );
  for (const end of await Promise.allSettled(requests)) {
    expect(end).toMatchObject({ status: "rejected", reason: { code: "ENOTFOUND" } });
  }
  expect(system).toHaveBeenCalledTimes(1);
  await dispatcher.destroy();
});
