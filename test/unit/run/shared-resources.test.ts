import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createDispatcher } from "../../../src/api/http/dispatcher.js";
import type { Finding } from "../../../src/core/finding.js";
import { systemClock } from "../../../src/core/clock.js";
import { Pace } from "../../../src/lookup/pace/pace.js";
import type { RequestPace } from "../../../src/lookup/pace/request-pace.js";
import type { SharedResources } from "../../../src/run/types.js";
import { MemoryStore } from "../../../src/store/memory-store.js";
import { MemoryQuotaStore } from "../../../src/store/quota/quota-store.js";
import { type AnsweringServer, startAnsweringServer } from "../../helpers/answering-server.js";
import { enrichHere, type EnrichedHere } from "../../helpers/enrich-here.js";

let service: AnsweringServer;
beforeAll(async () => {
  service = await startAnsweringServer();
});
afterAll(() => service.close());

let before: number;
beforeEach(() => {
  before = service.total;
});

function run(
  items: readonly string[],
  shared: SharedResources,
  settings: Readonly<Record<string, unknown>> = {},
): Promise<EnrichedHere> {
  return enrichHere({
    input: ["in.csv", ["ip", ...items, ""].join("\n")],
    intelUrl: service.url,
    settings: { lookups: "query", ...settings },
    shared,
  });
}

it("two concurrent runs share one pace, which may answer late", async () => {
  const pace = new Pace({ rates: [{ count: 1_000, perMs: 1_000 }], clock: systemClock });
  const tickets: number[] = [];
  const remote: RequestPace = {
    async take(signal) {
      await systemClock.sleep(1, signal);
      const ticket = await pace.take(signal);
      tickets.push(ticket);
      return ticket;
    },
    throttled: (afterMs, ticket) => pace.throttled(afterMs, ticket),
    succeeded: (ticket) => pace.succeeded(ticket),
    hold: (ms) => pace.hold(ms),
    advise: (by, rate) => pace.advise(by, rate),
  };
  await Promise.all([
    run(["192.0.2.1", "192.0.2.2"], { pace: remote }),
    run(["192.0.2.3"], { pace: remote }),
  ]);
  expect(tickets).toHaveLength(3);
  expect(service.total - before).toBe(3);
});

it("a run uses a cache that another run filled, and leaves it open", async () => {
  const cache = new MemoryStore<Finding>();
  await run(["192.0.2.1"], { cache });
  const { manifest } = await run(["192.0.2.1"], { cache });
  expect(service.total - before).toBe(1);
  expect(manifest.sources).toMatchObject({ cache: 1, live: 0 });
});

it("a quota used up by one run ends another, which can be resumed", async () => {
  const quotas = new MemoryQuotaStore();
  const settings = { rate: "2/h" };
  await run(["192.0.2.1", "192.0.2.2"], { quotas }, settings);
  await expect(run(["192.0.2.3"], { quotas }, settings)).rejects.toMatchObject({
    code: "quota_used_up",
  });
  expect(service.total - before).toBe(2);
});

it("connections outlive the runs that use them", async () => {
  const connections = createDispatcher(service.url, { connections: 1 });
  try {
    const shared = { connections };
    await run(["192.0.2.1"], shared);
    expect(connections).toMatchObject({ destroyed: false });
    const { manifest } = await run(["192.0.2.2"], shared);
    expect(manifest.statuses.complete).toBe(1);
  } finally {
    await connections.destroy();
  }
});

it("a service that has answered another run may be away when this one starts", async () => {
  await service.stop();
  try {
    const settings = { retries: 0, maxFailed: "100%" };
    await expect(run(["192.0.2.1"], {}, settings)).rejects.toMatchObject({
      code: "service_unreachable",
    });
    const { manifest } = await run(["192.0.2.1"], { answered: true }, settings);
    expect(manifest.statuses.failed).toBe(1);
  } finally {
    await service.start();
  }
});
