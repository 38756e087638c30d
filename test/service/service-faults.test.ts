import { expect, test } from "vitest";
import { endpoints } from "../../src/core/endpoints/endpoints.js";
import { serviceOptions } from "../../src/service/options.js";
import { startService } from "../../src/service/service.js";
import { ManualClock } from "../helpers/manual-clock.js";
import { ask, askBravely, runningService } from "./running-service.js";

const items = Array.from({ length: 60 }, (_, index) => `host-${index}.example.com`);
const everything = {
  partialRate: 0.2,
  unavailableRate: 0.2,
  resetRate: 0.2,
  malformedRate: 0.2,
  seed: 42,
};

function query(item: string): string {
  return `/beta/query/${encodeURIComponent(item)}`;
}

test("a second run against the same service gets the same faults once everything was answered", async () => {
  const service = await runningService({ unavailableRate: 0.3, seed: 4 });
  const statuses = async (item: string) => {
    const seen: number[] = [];
    do seen.push((await ask(service, query(item))).status);
    while (seen.at(-1) !== 200);
    return seen;
  };
  const first = await Promise.all(items.map(statuses));
  expect(await Promise.all(items.map(statuses))).toEqual(first);
});

test.each(["192.0.2.1", "login.example.com", "http://example.com/"])(
  "a partial answer for %s lacks at least one member and matches the API",
  async (item) => {
    const service = await runningService({ partialRate: 1 });
    const { status, body } = await ask(service, query(item));
    const { result, ...envelope } = JSON.parse(body) as { readonly result: object };
    expect([status, envelope]).toMatchObject([503, { status: "partial_success" }]);
    expect(endpoints.query.partial.safeParse(result).error).toBeUndefined();
    expect(Object.values(result)).toContain(null);
  },
);

test("there is no partial answer for a bogon, an invalid item or a quick check", async () => {
  const service = await runningService({ partialRate: 1 });
  const paths = [query("10.0.0.1"), query("setup.exe"), "/beta/quick-check/192.0.2.1"];
  const answers = await Promise.all(paths.map((path) => ask(service, path)));
  expect(answers.map(({ status }) => status)).toEqual([200, 400, 200]);
});

test("a second service with the same seed has the same faults in any order of requests, another seed others", async () => {
  const outcomes = async (seed: number, order: readonly string[]) => {
    const service = await runningService({ ...everything, seed });
    const seen: (readonly [string, unknown])[] = [];
    for (const item of order) {
      const answer = await askBravely(service, query(item));
      seen.push([item, answer === "reset" ? answer : [answer.status, answer.body]]);
    }
    return Object.fromEntries(seen);
  };
  const forwards = await outcomes(7, items);
  expect(await outcomes(7, items.toReversed())).toEqual(forwards);
  expect(await outcomes(8, items)).not.toEqual(forwards);
});

test("a rate of 1 makes every first answer malformed, with status 200, in one of five ways", async () => {
  const service = await runningService({ malformedRate: 1 });
  const answers = await Promise.all(items.map((item) => ask(service, query(item))));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  const broken = answers.map(({ body }) => body.replaceAll(/host-\d+/g, "host"));
  expect(broken.filter((body) => /^\{.*"item":.*\}\}$/.test(body))).toEqual([]);
  expect(new Set(broken.map((body) => body.slice(0, 60))).size).toBe(5);
});

test("faults affect every endpoint except those below /_local/", async () => {
  const service = await runningService({ unavailableRate: 1 });
  for (const [path, status] of [
    ["/beta/tags", 503],
    ["/beta/ops/customers", 503],
    ["/api/v1/cases/case-2001/context", 503],
    ["/_local/stats", 200],
  ] as const) {
    expect(await ask(service, path), path).toMatchObject({ status });
  }
});

test("requests over the rate get 429 and the seconds to wait", async () => {
  const clock = new ManualClock();
  const service = await runningService({ rateLimit: "2/m", clock });
  for (const [status, wait] of [
    [200, null],
    [200, null],
    [429, "30"],
  ]) {
    const answer = await ask(service, query("192.0.2.1"));
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([status, wait]);
  }
});

test("delays an answer by its latency", async () => {
  const clock = new ManualClock();
  const service = await runningService({ latency: "50ms", clock });
  await clock.run(ask(service, query("192.0.2.1")));
  expect(clock.asked).toEqual([50]);
});

test("every request is counted once, by endpoint and outcome", async () => {
  const service = await runningService(everything);
  const seen: Record<string, number> = {};
  for (const item of [...items, "10.0.0.0/8"]) {
    const answer = await askBravely(service, query(item));
    const outcome = answer === "reset" ? "reset" : String(answer.status);
    seen[outcome] = (seen[outcome] ?? 0) + 1;
  }
  const { requests } = service.stats();
  expect(requests.query).toEqual({
    path: "/beta/query/{item}",
    total: items.length + 1,
    outcomes: seen,
  });
});

test("a path without an endpoint is counted as unknown", async () => {
  const service = await runningService();
  await ask(service, "/beta/nothing");
  await ask(service, "/_local/nothing");
  expect(service.stats().requests).toEqual({
    unknown: { path: "*", total: 1, outcomes: { "404": 1 } },
  });
});

test("close sends delayed answers", async () => {
  const service = await startService({ latency: "1h" });
  const asking = ask(service, query("192.0.2.1"));
  await expect.poll(() => service.stats().requests.query?.total).toBe(1);
  await service.close();
  expect((await asking).status).toBe(200);
});

test.each([
  [{ partialRate: 0.6, resetRate: 0.5 }, "fault_rates_invalid", /1\.1; lower them to .* 1/],
  [{ partialRate: 2 }, "service_options_invalid", /partialRate/],
])("refuses %j", async (options, code, message) => {
  await expect(startService(options)).rejects.toMatchObject({
    code,
    message: expect.stringMatching(message) as string,
  });
});

test.each(["50", "20ms-80ms", "fast"])("refuses the latency %j", (latency) => {
  const issue = serviceOptions.safeParse({ latency }).error?.issues[0];
  expect(issue?.message).toMatch(/a number and a unit/);
});
