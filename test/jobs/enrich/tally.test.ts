import { describe, expect, it } from "vitest";
import { ExclusionList, excludedMessage } from "../../../src/core/exclusions/exclusion-list.js";
import { Tally } from "../../../src/jobs/enrich/tally.js";
import { anEnrichedRow } from "../../helpers/enriched-rows.js";
import { attempt, complete } from "../../client/lookup/findings.js";

describe("Tally", () => {
  it("counts rows by status, kind and source, tags by row, and reasons apart from errors", () => {
    const tally = new Tally();
    tally.row(anEnrichedRow({}, { query: { tags: ["a:b", "c:d"] } }));
    tally.row(anEnrichedRow({}, { query: { tags: ["a:b"] }, source: "duplicate" }));
    const sha256 = { code: "sha256", message: "" } as const;
    tally.row(anEnrichedRow({}, { status: "unsupported", error: sha256 }, null));
    tally.row(anEnrichedRow({}, { status: "failed", error: { code: "timeout", message: "" } }));
    const { tags, ...counts } = tally.snapshot();
    expect(tags).toEqual({ "a:b": 2, "c:d": 1 });
    expect(counts).toMatchObject({
      statuses: { complete: 2, unsupported: 1, failed: 1 },
      kinds: { ip: 3 },
      sources: { live: 2, cache: 0, duplicate: 1, local: 0 },
      unsupported: { sha256: 1 },
      errors: { timeout: 1 },
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

  it("continues from a snapshot", () => {
    const first = new Tally();
    first.row(anEnrichedRow({}, { query: { tags: ["a:b"], intent: "malicious" } }));
    first.warning("w", 2);
    const again = new Tally(JSON.parse(JSON.stringify(first.snapshot())) as never);
    expect(again.snapshot()).toEqual(first.snapshot());
    expect(again.counts.verdicts.malicious).toBe(1);
  });

  it("takes requests and drift of a resumed run from the journal, if it has their findings", () => {
    const first = new Tally();
    for (const outcome of ["429", "200", "200"]) first.request("query", outcome);
    const record = { ...attempt(complete()), drift: ["intent=odd"] };
    first.journalled("query", { ...record, origin: { row: 1, outcomes: ["429", "200"] } });
    first.journalled("query", { ...record, origin: { row: 2, outcomes: ["200"] } });
    expect(new Tally(first.snapshot()).snapshot()).toMatchObject({ requests: {}, drift: {} });
    // The others are kept once every lookup has ended.
    for (const outcome of ["401", "aborted"]) first.request("query", outcome);
    first.settle();
    const again = new Tally(first.snapshot());
    again.request("query", "200");
    expect(again.snapshot().requests).toEqual({
      query: { total: 3, outcomes: { "200": 1, "401": 1, aborted: 1 } },
    });
  });

  it("keeps the count of an exclusion list, however a command spells it", () => {
    const exclusions = [
      { path: "ours.txt", entries: 1, sha256: "aa", rows: 3 },
      { path: "theirs.txt", entries: 2, sha256: "bb", rows: 5 },
    ];
    const tally = new Tally({ ...new Tally().snapshot(), exclusions });
    tally.excludes([new ExclusionList("./ours.txt", "aa")]);
    const error = { code: "excluded", message: excludedMessage("./ours.txt") } as const;
    tally.row(anEnrichedRow({}, { status: "unsupported", error }, null));
    expect(tally.snapshot().exclusions).toMatchObject([
      { path: "theirs.txt", rows: 5 },
      { path: "./ours.txt", rows: 4 },
    ]);
  });

  it("limits the number of names, and accepts any name", () => {
    const tally = new Tally();
    const drift = Array.from({ length: 10_500 }, (_, n) => `intent=${n}`);
    tally.journalled("query", { ...attempt(complete()), drift });
    tally.row(anEnrichedRow({}, { query: { tags: ["__proto__", "constructor"] } }));
    const counted = tally.snapshot();
    expect(Object.keys(counted.drift)).toHaveLength(10_001);
    expect(counted.drift["(others)"]).toBe(500);
    expect(Object.keys(counted.tags)).toEqual(["__proto__", "constructor"]);
  });
});
