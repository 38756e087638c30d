import { expect, test } from "vitest";
import type { Attempt, LookupEndpoint } from "../../../src/core/finding.js";
import type { Rate } from "../../../src/core/options.js";
import { composeLookup } from "../../../src/client/lookup/compose.js";
import { MemoryStore } from "../../../src/client/store/store.js";
import { Slots } from "../../../src/client/pace/slots.js";
import { Pace } from "../../../src/client/pace/pace.js";
import type { AttemptLookup, Lookup } from "../../../src/client/lookup/types.js";
import { ManualClock } from "../../helpers/manual-clock.js";
import {
  attempt,
  complete,
  failed,
  held,
  item,
  otherItem,
  quick,
  scripted,
  unaborted,
} from "./findings.js";

const reset = attempt(failed("connection_reset"), "transient");
const whole = attempt(complete());
const checked = attempt(quick());

function compose(
  client: { query: AttemptLookup; quickCheck: AttemptLookup },
  {
    concurrency = 8,
    ...options
  }: { concurrency?: number; rates?: Rate[]; store?: MemoryStore } = {},
  lookups: readonly LookupEndpoint[] = ["query", "quick-check"],
): { clock: ManualClock; lookup: Lookup } {
  const clock = new ManualClock();
  const lookup = composeLookup({
    client: {
      attempt: (endpoint, ...args) =>
        endpoint === "query" ? client.query(...args) : client.quickCheck(...args),
    },
    lookups,
    slots: new Slots(concurrency),
    pace: new Pace({ rates: options.rates ?? [], clock, random: () => 0 }),
    retries: 5,
    partialRetries: 2,
    store: options.store ?? new MemoryStore(),
    clock,
    random: () => 0.5,
  });
  return { clock, lookup };
}

test("an item that waits for its next attempt holds no slot", async () => {
  const query: AttemptLookup = (each) => Promise.resolve(each === item ? reset : whole);
  const client = { query, quickCheck: scripted(checked) };
  const { clock, lookup } = compose(client, { concurrency: 1 }, ["query"]);
  void lookup(item, unaborted());
  const other = lookup(otherItem, unaborted());
  await clock.advance(0);
  await expect(other).resolves.toMatchObject({ status: "complete" });
});

test("every attempt spends from the rate", async () => {
  const client = { query: scripted(reset, whole), quickCheck: scripted(checked) };
  const { clock, lookup } = compose(client, { rates: [{ count: 1, perMs: 1000 }] });
  await clock.run(lookup(item, unaborted()));
  expect(clock.monotonic()).toBe(2000);
});

test("an endpoint that answered before an interruption is not asked again", async () => {
  const store = new MemoryStore();
  const before = { query: scripted(whole), quickCheck: held<Attempt>() };
  const first = compose(before, { store });
  void first.lookup(item, unaborted());
  await first.clock.advance(0);
  const after = { query: scripted(whole), quickCheck: scripted(checked) };
  const second = compose(after, { store });
  await second.clock.run(second.lookup(item, unaborted()));
  expect([after.query.asked.length, after.quickCheck.asked.length]).toEqual([0, 1]);
});

test("a throttle answer of one endpoint also holds back the other", async () => {
  const client = {
    query: scripted(attempt(failed("http_429", 429), "throttled", 5000), whole),
    quickCheck: scripted(checked),
  };
  const { clock, lookup } = compose(client, { concurrency: 1 });
  void lookup(item, unaborted());
  await clock.advance(4999);
  expect(client.quickCheck.asked).toHaveLength(0);
});

test("aborting ends an item wherever it waits", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const client = { query: held<Attempt>(), quickCheck: scripted(reset) };
  const { clock, lookup } = compose(client, { concurrency: 1 });
  const waiting = [otherItem, item].map((each) => lookup(each, { signal }));
  await clock.advance(0);
  controller.abort(new Error("enough"));
  client.query.open[0]?.fail(new Error("enough"));
  for (const each of waiting) await expect(each).rejects.toThrow("enough");
  expect(client.query.open).toHaveLength(1);
});
