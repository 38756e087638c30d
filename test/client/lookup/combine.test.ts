import { describe, expect, test } from "vitest";
import { EarlyEndError, FatalError } from "../../../src/core/errors.js";
import type { FindingSource, Finding, FindingStatus } from "../../../src/core/finding.js";
import { allLookups, combineFindings, triage } from "../../../src/client/lookup/combine.js";
import {
  complete,
  failed,
  held,
  invalid,
  item,
  partial,
  quick,
  scripted,
  unaborted,
} from "./findings.js";

test.each<[query: FindingStatus, quickCheck: FindingStatus, row: FindingStatus]>([
  ["complete", "complete", "complete"],
  ["partial", "complete", "partial"],
  ["invalid", "partial", "invalid"],
  ["complete", "failed", "failed"],
  ["invalid", "failed", "failed"],
])("the status of query %s and quick check %s is %s", (query, quickCheck, row) => {
  const combined = combineFindings(
    { ...complete(), status: query },
    { ...quick(), status: quickCheck },
  );
  expect(combined.status).toBe(row);
});

test.each<[query: FindingSource, quickCheck: FindingSource, row: FindingSource]>([
  ["live", "live", "live"],
  ["live", "cache", "live"],
  ["cache", "duplicate", "cache"],
  ["duplicate", "cache", "cache"],
])("the source of query %s and quick check %s is %s", (query, quickCheck, row) => {
  const combined = combineFindings(
    { ...complete(), source: query },
    { ...quick(), source: quickCheck },
  );
  expect(combined.source).toBe(row);
});

const late = "2024-01-01T00:00:02.500Z";
const otherError = { code: "timeout", message: "quick check: it failed with timeout" };

test.each<[string, Finding, Finding, Partial<Finding>]>([
  [
    "names a member that both lack once",
    { ...complete(), missing: ["tags", "intent"] },
    { ...quick(), missing: ["intent", "bogon"] },
    { missing: ["tags", "intent", "bogon"] },
  ],
  [
    "has the data of both",
    complete({ intent: "none" }),
    quick(),
    { answers: { ...complete({ intent: "none" }).answers, ...quick().answers } },
  ],
  [
    "keeps the query's data if the quick check failed, and names that in its error",
    complete(),
    failed("timeout"),
    { status: "failed", answers: complete().answers, error: otherError },
  ],
  ["has the query's error unchanged", invalid("bad"), quick(), { error: invalid("bad").error }],
  ["has the query's missing members", partial({}, ["asn"]), quick(), { missing: ["asn"] }],
  [
    "adds up the attempts",
    { ...complete(), attempts: 3 },
    { ...quick(), attempts: 2 },
    { attempts: 5 },
  ],
  [
    "has the HTTP status of the deciding lookup",
    complete(),
    failed("http_404", 404),
    { httpStatus: 404 },
  ],
  [
    "has the query's HTTP status in a tie",
    failed("http_500", 500),
    failed("timeout"),
    { httpStatus: 500 },
  ],
  ["has the later time", complete(), { ...quick(), lookedUpAt: late }, { lookedUpAt: late }],
  [
    "has the time of the lookup that was made",
    complete(),
    { ...quick(), lookedUpAt: null },
    { lookedUpAt: complete().lookedUpAt },
  ],
])("a combined finding %s", (_, query, quickCheck, expected) => {
  expect(combineFindings(query, quickCheck)).toMatchObject(expected);
});

describe("all lookups", () => {
  type Lookup = Parameters<typeof allLookups>[0][number][1];
  const both = (query: Lookup, quickCheck: Lookup) =>
    allLookups([
      ["query", query],
      ["quick-check", quickCheck],
    ])(item, unaborted());

  test("ask both endpoints at once, and combine their answers", async () => {
    const [query, quickCheck] = [held(), held()];
    const finding = both(query, quickCheck);
    expect([query.open.length, quickCheck.open.length]).toEqual([1, 1]);
    query.open[0]?.answer(complete());
    quickCheck.open[0]?.answer(quick());
    expect(await finding).toEqual(combineFindings(complete(), quick()));
  });

  test("wait for requests open at one endpoint when the other ends early", async () => {
    const query = held();
    const end = new EarlyEndError("requests_spent", "enough");
    let over = false;
    const ending = both(query, () => Promise.reject(end));
    ending.catch(() => (over = true));
    await new Promise(setImmediate);
    expect(over).toBe(false);
    query.open[0]?.answer(complete());
    await expect(ending).rejects.toBe(end);
  });

  test("end at once with a fatal error", async () => {
    const fault = new FatalError("unauthorized", "no");
    await expect(both(held(), () => Promise.reject(fault))).rejects.toBe(fault);
  });
});

describe("triage", () => {
  const nothing = { serviceMailBlocklist: "NOT_LISTED", intent: "none", activity: false };
  const checked = (members: object) => quick({ item: item.value, ...nothing, ...members });

  test.each([
    [1, checked({ serviceMailBlocklist: "ACTIVE" })],
    [1, checked({ serviceMailBlocklist: "PASSIVE" })],
    [1, checked({ serviceMailBlocklist: undefined, abusixMailBlocklist: "ACTIVE" })],
    [1, checked({ intent: "malicious" })],
    [1, checked({ intent: "suspicious" })],
    [1, checked({ activity: true })],
    [1, checked({ intent: "MALICIOUS" })],
    [1, checked({ serviceMailBlocklist: "BLOCKED" })],
    [0, checked({})],
    [0, checked({ serviceMailBlocklist: "ALLOWLIST" })],
    [0, checked({ activity: null, intent: null, serviceMailBlocklist: null })],
    [0, failed("http_500")],
  ])("makes %i queries after the quick check %j", async (queries, quickCheck) => {
    const query = scripted(complete());
    const finding = await triage(query, scripted(quickCheck))(item, unaborted());
    expect(query.asked).toHaveLength(queries);
    expect(finding).toEqual(queries === 0 ? quickCheck : combineFindings(complete(), quickCheck));
  });
});
