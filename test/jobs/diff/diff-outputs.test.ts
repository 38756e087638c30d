import { parse } from "csv-parse/sync";
import { describe, expect, it } from "vitest";
import type { OutputRecord } from "../../../src/io/formats/types.js";
import { changeCounts, changePhrase } from "../../../src/jobs/report/phrases.js";
import { type Change, diffOutputs, type OutputDiff } from "../../../src/jobs/diff/diff-outputs.js";
import { diffLines } from "../../../src/jobs/report/page/page.js";
import { record } from "../report/rows.js";

type Columns = Readonly<Record<string, string>>;

async function* listsOf(rows: readonly Columns[]): AsyncGenerator<readonly OutputRecord[]> {
  for (let at = 0; at < rows.length; at += 2)
    yield rows.slice(at, at + 2).map((row) => record(row));
}

async function diff(earlier: readonly Columns[], later: readonly Columns[]) {
  await using found = await diffOutputs(listsOf(earlier), listsOf(later));
  return { counts: found.counts, changes: [...found.changes()] };
}

function written(format: "csv" | "ndjson", changes: readonly Change[]): string {
  const diff = { changes: () => changes } as unknown as OutputDiff;
  return [...diffLines(format, diff, { earlier: "a", later: "b" })].join("");
}

const host = (item: string, columns: Columns = {}): Columns => ({
  item,
  kind: "domain",
  status: "complete",
  verdict: "none",
  type: "DOMAIN",
  ...(columns["verdict"] === "listed"
    ? { mail_blocklist: "ACTIVE" }
    : { intent: columns["verdict"] ?? "none" }),
  ...columns,
});

describe("diffOutputs", () => {
  it("tells new, gone, worse, better and changed items apart, worst first", async () => {
    const { counts, changes } = await diff(
      [
        host("gone.example"),
        host("worse.example"),
        host("worst.example", { verdict: "listed" }),
        host("better.example", { verdict: "malicious" }),
        host("tags.example", { tags: "a:b" }),
        host("same.example", { tags: "a:b|c:d" }),
      ],
      [
        host("new.example", { verdict: "suspicious" }),
        host("worse.example", { verdict: "listed" }),
        host("worst.example", { verdict: "malicious" }),
        host("better.example", { verdict: "listed" }),
        host("tags.example", { tags: "a:b|c:d" }),
        host("same.example", { tags: "c:d|a:b" }),
      ],
    );
    expect(changes.map(({ change, item }) => `${change} ${item}`)).toEqual([
      "worse worst.example",
      "worse worse.example",
      "new new.example",
      "changed tags.example",
      "better better.example",
      "gone gone.example",
    ]);
    expect(counts).toEqual({
      worse: 2,
      new: 1,
      changed: 1,
      better: 1,
      gone: 1,
      same: 1,
      unanswered: 0,
      newVerdicts: { malicious: 0, suspicious: 1, listed: 0, none: 0, unknown: 0 },
    });
  });

  it("counts new items by verdict, the gravest first, and leaves out what is zero", async () => {
    const { counts, changes } = await diff(
      [host("worse.example")],
      [
        host("a.example", { verdict: "malicious", tags: "c:d|a:b" }),
        host("b.example", { verdict: "malicious" }),
        host("c.example"),
        host("d.example", { verdict: "" }),
        host("worse.example", { verdict: "listed" }),
      ],
    );
    expect(changeCounts(counts)).toBe(
      "2 new malicious, 1 worse, 1 new with nothing known, 1 new and unknown; 0 the same",
    );
    expect(changes.slice(1).map(changePhrase)).toEqual([
      "malicious; tags +a:b +c:d",
      "malicious",
      "none",
      "unknown",
    ]);
  });

  it("says which of tags, network and contact changed", async () => {
    const { changes } = await diff(
      [
        host("a.example", { asn: "AS64496", abuse_email: "a@example.com", tags: "x:y" }),
        host("b.example", { asn: "AS64496" }),
        host("c.example", { abuse_email: "a@example.com" }),
      ],
      [
        host("a.example", { asn: "AS64500", abuse_email: "b@example.com", tags: "x:z" }),
        host("b.example", { asn: "AS64500" }),
        host("c.example", { abuse_email: "b@example.com" }),
      ],
    );
    expect(changes.map(({ what }) => what)).toEqual([
      ["tags", "network", "contact"],
      ["network"],
      ["contact"],
    ]);
    expect(changePhrase(changes[0] as Change)).toBe(
      "tags +x:z -x:y; network AS64496 → AS64500; contact a@example.com → b@example.com",
    );
  });

  it("compares the newest answer of an item that has several rows", async () => {
    const { changes, counts } = await diff(
      [host("a.example")],
      [
        host("a.example", { verdict: "none", looked_up_at: "2025-12-31T00:00:00.000Z" }),
        host("a.example", { verdict: "malicious", looked_up_at: "2026-01-02T00:00:00.000Z" }),
        host("a.example", { verdict: "none", looked_up_at: "2026-01-01T00:00:00.000Z" }),
        host("a.example", { verdict: "", looked_up_at: "2026-01-03T00:00:00.000Z" }),
      ],
    );
    expect([changes.map(({ change }) => change), counts.worse]).toEqual([["worse"], 1]);
  });

  it("counts an item without an answer on one side as unanswered, not as changed", async () => {
    const { changes, counts } = await diff(
      [host("a.example", { verdict: "malicious" })],
      [host("a.example", { verdict: "" })],
    );
    expect([changes, counts.unanswered]).toEqual([[], 1]);
  });

  const known = { tags: "a:b", asn: "AS64496", as_name: "EXAMPLE", abuse_email: "a@example.com" };
  const bad = { ...known, verdict: "malicious" };
  const listed = { ...known, verdict: "listed" };
  const quick = { quick_intent: "none", quick_mail_blocklist: "NOT_LISTED" };
  const partial = { ...known, status: "partial" };
  it.each<[string, Columns, Columns]>([
    [
      "a failed query",
      bad,
      { verdict: "malicious", status: "failed", type: "", quick_intent: "malicious" },
    ],
    ["only the quick check", bad, { verdict: "malicious", type: "", quick_intent: "malicious" }],
    [
      "a partial answer",
      bad,
      { verdict: "malicious", status: "partial", missing: "tags|asn|abuseContact" },
    ],
    ["a partial answer without intent", bad, { ...partial, verdict: "listed", missing: "intent" }],
    ["an undocumented intent", bad, { ...listed, intent: "critical", mail_blocklist: "ACTIVE" }],
    [
      "a rejected query",
      bad,
      { verdict: "suspicious", status: "invalid", type: "", quick_intent: "suspicious" },
    ],
    // The quick check does not stand in for the query.
    [
      "an intent that the quick check has",
      { ...bad, ...quick },
      { ...partial, ...quick, verdict: "none", missing: "intent" },
    ],
    [
      "a blocklist status that the quick check has",
      { ...listed, ...quick },
      { ...partial, ...quick, verdict: "none", missing: "serviceMailBlocklist" },
    ],
  ])("neither removes nor adds what is missing: %s", async (_, one, other) => {
    const [before, after] = [[host("a.example", one)], [host("a.example", other)]];
    for (const { counts } of [await diff(before, after), await diff(after, before)]) {
      expect(counts).toMatchObject({ same: 1, worse: 0, better: 0, changed: 0, unanswered: 0 });
    }
  });

  it("tells what the quick check says without a query", async () => {
    const part = { status: "partial", missing: "intent", intent: "" };
    const [mild, grave] = ["none", "malicious"].map((verdict) => [
      host("a.example", { verdict, ...part, quick_intent: verdict }),
    ]);
    expect((await diff(mild!, grave!)).counts.worse).toBe(1);
    expect((await diff(grave!, mild!)).counts.better).toBe(1);
  });

  it("compares what a partial answer has", async () => {
    const part = {
      status: "partial",
      missing: "tags|intent",
      asn: "AS64500",
      quick_intent: "none",
    };
    const { changes } = await diff(
      [host("a.example", listed)],
      [host("a.example", part), host("b.example", part)],
    );
    expect(changes.map(({ change, what }) => [change, what])).toEqual([
      ["new", []],
      ["better", ["verdict", "network", "contact"]],
    ]);
    expect(JSON.parse(written("ndjson", changes).split("\n")[1] ?? "")).toMatchObject({
      earlier: { tags: ["a:b"] },
      later: { verdict: "none", tags: null, asn: "AS64500", abuse_email: null },
    });
  });

  it("says that there is no room for its temporary file", async () => {
    const isFull = Object.assign(new Error("database or disk is full"), { errcode: 13 });
    const full = { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(isFull) }) };
    await expect(diffOutputs(full, listsOf([]))).rejects.toMatchObject({
      code: "temporary_file",
      message: "cannot compare in a temporary file: the disk is full",
    });
  });
});

it("a file of changes has one CSV record for each, safe in a spreadsheet", () => {
  const known = { tags: [], asn: "", as_name: 'A, "B"', abuse_email: "" };
  const change: Change = {
    change: "worse",
    kind: "domain",
    item: "=cmd.example",
    what: ["verdict"],
    earlier: { ...known, verdict: "none" },
    later: { ...known, verdict: "malicious", tags: ["a:b", "c:d"] },
  };
  const [found] = parse(written("csv", [change]), { columns: true });
  expect(found).toMatchObject({
    change: "worse",
    item: "'=cmd.example",
    what: "verdict",
    earlier_verdict: "none",
    later_verdict: "malicious",
    later_tags: "a:b|c:d",
    later_as_name: 'A, "B"',
  });
});
