import { describe, expect, it } from "vitest";
import { Tally } from "../../../src/pipeline/tally.js";
import { anEnrichedRow } from "../../helpers/enriched-rows.js";

describe("Tally", () => {
  it("counts rows by status, kind and source, and tags by row", () => {
    const tally = new Tally();
    tally.row(anEnrichedRow({}, { query: { tags: ["a:b", "c:d"] } }));
    tally.row(anEnrichedRow({}, { query: { tags: ["a:b"] }, source: "duplicate" }));
    const counts = tally.snapshot();
    expect(counts.statuses.complete).toBe(2);
    expect(counts.kinds.ip).toBe(2);
    expect(counts.sources).toEqual({ live: 1, cache: 0, duplicate: 1, local: 0 });
    expect(counts.tags).toEqual({ "a:b": 2, "c:d": 1 });
  });

  it("counts rows by verdict, those without an answer under none of them", () => {
    const tally = new Tally();
    const findings = [
      { query: { intent: "malicious" } },
      { quickCheck: { intent: "malicious" }, status: "failed" },
      { query: { intent: "suspicious" } },
      { query: { abusixMailBlocklist: "ACTIVE" } },
      { query: { intent: "unknown" }, status: "partial" },
      { status: "failed" },
    ] as const;
    for (const finding of findings) tally.row(anEnrichedRow({}, finding));
    tally.row(anEnrichedRow({}, { status: "unsupported" }, null));
    const verdicts = { malicious: 2, suspicious: 1, listed: 1, none: 1 };
    expect(tally.snapshot()).toMatchObject({ rows: 7, verdicts });
  });

  it("keeps the reasons of unsupported rows apart from errors", () => {
    const tally = new Tally();
    const error = { code: "sha256", message: "" };
    tally.row(anEnrichedRow({}, { status: "unsupported", error }, null));
    tally.row(anEnrichedRow({}, { status: "failed", error: { code: "timeout", message: "" } }));
    expect(tally.snapshot()).toMatchObject({
      unsupported: { sha256: 1 },
      errors: { timeout: 1 },
      kinds: { ip: 1 },
    });
  });

  it("counts requests by endpoint and outcome, and knows whether the service answered", () => {
    const tally = new Tally();
    tally.request("query", "connect_refused");
    expect(tally.answered).toBe(false);
    tally.request("query", "200");
    tally.request("quick-check", "503");
    expect(tally.answered).toBe(true);
    expect(tally.requestTotal).toBe(3);
    expect(tally.snapshot().requests).toEqual({
      query: { total: 2, outcomes: { "200": 1, connect_refused: 1 } },
      "quick-check": { total: 1, outcomes: { "503": 1 } },
    });
  });

  it("goes on from a snapshot", () => {
    const first = new Tally();
    first.row(anEnrichedRow({}, { query: { tags: ["a:b"], intent: "malicious" } }));
    first.request("query", "200");
    first.drift("intent=odd");
    first.warning("w", 2);
    const again = new Tally(JSON.parse(JSON.stringify(first.snapshot())) as never);
    expect(again.snapshot()).toEqual(first.snapshot());
    expect(again.verdicts.malicious).toBe(1);
    again.request("query", "200");
    expect(again.requestTotal).toBe(2);
  });

  it("is bounded in names, and takes any name", () => {
    const tally = new Tally();
    for (let n = 0; n < 10_500; n++) tally.drift(`intent=${n}`);
    tally.row(anEnrichedRow({}, { query: { tags: ["__proto__", "constructor"] } }));
    const { drift, tags } = tally.snapshot();
    expect(Object.keys(drift)).toHaveLength(10_001);
    expect(drift["(others)"]).toBe(500);
    expect(Object.keys(tags)).toEqual(["__proto__", "constructor"]);
  });
});
