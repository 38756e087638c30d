import { describe, expect, test } from "vitest";
import type { FindingSource, FindingStatus } from "../../../src/core/finding.js";
import { allLookups, combineFindings } from "../../../src/lookup/combine.js";
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

describe("the status of a row", () => {
  const statuses: readonly (readonly [FindingStatus, FindingStatus, FindingStatus])[] = [
    ["complete", "complete", "complete"],
    ["partial", "complete", "partial"],
    ["complete", "partial", "partial"],
    ["invalid", "partial", "invalid"],
    ["partial", "invalid", "invalid"],
    ["failed", "invalid", "failed"],
    ["complete", "failed", "failed"],
    ["invalid", "failed", "failed"],
  ];

  test.each(statuses)("of query %s and quick check %s is %s", (query, quickCheck, row) => {
    const combined = combineFindings(
      { ...complete(), status: query },
      { ...quick(), status: quickCheck },
    );
    expect(combined.status).toBe(row);
  });
});

test("keeps the data of both", () => {
  const { answers } = combineFindings(complete({ intent: "none" }), quick());
  const [query, quickCheck] = [answers.query?.result, answers["quick-check"]?.result];
  expect([query?.["intent"], quickCheck?.["activity"]]).toEqual(["none", true]);
});

test("keeps the query's data if the quick check failed", () => {
  const combined = combineFindings(complete(), failed("timeout"));
  expect([combined.status, combined.answers.query?.result["item"]]).toEqual([
    "failed",
    "192.0.2.1",
  ]);
});

test("adds up the attempts", () => {
  const combined = combineFindings({ ...complete(), attempts: 3 }, { ...quick(), attempts: 2 });
  expect(combined.attempts).toBe(5);
});

test("takes the HTTP status of the deciding lookup", () => {
  const combined = combineFindings(complete(), { ...failed("http_404"), httpStatus: 404 });
  expect(combined.httpStatus).toBe(404);
});

test("takes the query's HTTP status in a tie", () => {
  expect(combineFindings(failed("http_500", 500), failed("timeout")).httpStatus).toBe(500);
});

test("keeps the query's error unchanged", () => {
  const error = combineFindings(invalid("bad item"), quick()).error;
  expect(error).toEqual({ code: "invalid_item", message: "bad item" });
});

test("names the quick check in its error", () => {
  const error = combineFindings(complete(), failed("timeout")).error;
  expect(error).toEqual({ code: "timeout", message: "quick check: it failed with timeout" });
});

test("takes the query's missing members", () => {
  expect(combineFindings(partial({}, ["asn"]), quick()).missing).toEqual(["asn"]);
});

test("takes the later time", () => {
  const combined = combineFindings(
    { ...complete(), lookedUpAt: "2024-01-01T00:00:01.000Z" },
    { ...quick(), lookedUpAt: "2024-01-01T00:00:02.500Z" },
  );
  expect(combined.lookedUpAt).toBe("2024-01-01T00:00:02.500Z");
});

test("ignores the time of a lookup that wasn't made", () => {
  expect(combineFindings(complete(), { ...quick(), lookedUpAt: null }).lookedUpAt).toBe(
    complete().lookedUpAt,
  );
});

describe("the source of a row", () => {
  const sources: readonly (readonly [FindingSource, FindingSource, FindingSource])[] = [
    ["live", "live", "live"],
    ["duplicate", "live", "live"],
    ["live", "cache", "live"],
    ["duplicate", "duplicate", "duplicate"],
    ["cache", "duplicate", "cache"],
    ["duplicate", "cache", "cache"],
    ["local", "local", "local"],
  ];

  test.each(sources)("of query %s and quick check %s is %s", (query, quickCheck, row) => {
    const combined = combineFindings(
      { ...complete(), source: query },
      { ...quick(), source: quickCheck },
    );
    expect(combined.source).toBe(row);
  });
});

test("asks both endpoints at once", () => {
  const [query, quickCheck] = [held(), held()];
  void allLookups([
    ["query", query],
    ["quick-check", quickCheck],
  ])(item, unaborted());
  expect([query.open.length, quickCheck.open.length]).toEqual([1, 1]);
});

test("combines both answers into one finding", async () => {
  const lookup = allLookups([
    ["query", scripted(complete())],
    ["quick-check", scripted(quick())],
  ]);
  expect(await lookup(item, unaborted())).toEqual(combineFindings(complete(), quick()));
});

test("a fatal error of one lookup ends both", async () => {
  const query = held();
  const finding = allLookups([
    ["query", query],
    ["quick-check", scripted(quick())],
  ])(item, unaborted());
  query.open[0]?.fail(new Error("forbidden"));
  await expect(finding).rejects.toThrow("forbidden");
});
