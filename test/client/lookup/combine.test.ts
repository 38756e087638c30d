import { describe, expect, test } from "vitest";
import { EarlyEndError, FatalError } from "../../../src/core/errors.js";
import type { Finding } from "../../../src/core/finding.js";
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

const late = "2024-01-01T00:00:02.500Z";
const timedOut = { code: "timeout", message: "quick check: it failed with timeout" };
const { answers: queried } = complete();
const { answers: checked } = quick();

type Members = Partial<Finding>;

test.each<[string, query: Members, quickCheck: Members, combined: Members]>([
  ["complete if both are", {}, {}, { status: "complete" }],
  ["partial if the query is", { status: "partial" }, {}, { status: "partial" }],
  ["invalid rather than partial", invalid(), { status: "partial" }, { status: "invalid" }],
  ["failed if one of them is", {}, failed("timeout"), { status: "failed" }],
  ["failed rather than invalid", invalid(), failed("timeout"), { status: "failed" }],
  ["live if both are", { source: "live" }, { source: "live" }, { source: "live" }],
  ["live if one of them is", { source: "live" }, { source: "cache" }, { source: "live" }],
  ["cached, not a duplicate", { source: "cache" }, { source: "duplicate" }, { source: "cache" }],
  ["cached if the check is", { source: "duplicate" }, { source: "cache" }, { source: "cache" }],
  [
    "lacking once what both lack",
    { missing: ["tags", "intent"] },
    { missing: ["intent", "bogon"] },
    { missing: ["tags", "intent", "bogon"] },
  ],
  ["lacking what the query lacks", partial({}, ["asn"]), {}, { missing: ["asn"] }],
  ["one with the data of both", {}, {}, { answers: { ...queried, ...checked } }],
  [
    "one with the query's data if the quick check failed, and names that in its error",
    {},
    failed("timeout"),
    { answers: queried, error: timedOut },
  ],
  ["one with the query's error", invalid("bad"), {}, { error: invalid("bad").error }],
  ["one with all attempts", { attempts: 3 }, { attempts: 2 }, { attempts: 5 }],
  ["one with the status of the deciding lookup", {}, failed("x", 404), { httpStatus: 404 }],
  ["one with the query's status in a tie", failed("x", 500), failed("x"), { httpStatus: 500 }],
  ["one with the later time", {}, { lookedUpAt: late }, { lookedUpAt: late }],
  [
    "one with the time of the lookup that was made",
    {},
    { lookedUpAt: null },
    { lookedUpAt: complete().lookedUpAt },
  ],
])("a combined finding is %s", (_, query, quickCheck, combined) => {
  const found = combineFindings({ ...complete(), ...query }, { ...quick(), ...quickCheck });
  expect(found).toMatchObject(combined);
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

const nothing = { serviceMailBlocklist: "NOT_LISTED", intent: "none", activity: false };
const found = (members: object) => quick({ item: item.value, ...nothing, ...members });

test.each([
  [1, found({ serviceMailBlocklist: "ACTIVE" })],
  [1, found({ serviceMailBlocklist: "PASSIVE" })],
  [1, found({ serviceMailBlocklist: undefined, abusixMailBlocklist: "ACTIVE" })],
  [1, found({ intent: "malicious" })],
  [1, found({ intent: "suspicious" })],
  [1, found({ activity: true })],
  [1, found({ intent: "MALICIOUS" })],
  [1, found({ serviceMailBlocklist: "BLOCKED" })],
  [0, found({})],
  [0, found({ serviceMailBlocklist: "ALLOWLIST" })],
  [0, found({ activity: null, intent: null, serviceMailBlocklist: null })],
  [0, failed("http_500")],
])("triage makes %i queries after the quick check %j", async (queries, quickCheck) => {
  const query = scripted(complete());
  const finding = await triage(query, scripted(quickCheck))(item, unaborted());
  expect(query.asked).toHaveLength(queries);
  expect(finding).toEqual(queries === 0 ? quickCheck : combineFindings(complete(), quickCheck));
});
