import { expect, test } from "vitest";
import { ip, record, reportOf, runOf } from "./rows.js";

const unsupported = record({ status: "unsupported", error_code: "sha256" });

test("counts rows by outcome, kind and status", async () => {
  const report = await reportOf([
    ip("192.0.2.1", "malicious"),
    ip("192.0.2.2", "none", { status: "partial" }),
    record({ item: "example.com", kind: "domain", status: "complete", verdict: "suspicious" }),
    unsupported,
  ]);
  expect(report.rows).toBe(4);
  const none = { malicious: 0, suspicious: 0, listed: 0, none: 0, part: 0, unchecked: 0 };
  const found = { malicious: 1, suspicious: 1, none: 1, unchecked: 1 };
  expect(report.outcomes).toEqual({ ...none, ...found });
  expect(report.kinds.map(({ kind }) => kind)).toEqual(["ip", "domain", ""]);
});

test("says why rows were not checked, in the words of the error registry", async () => {
  const { reasons } = await reportOf([unsupported, unsupported, ip("192.0.2.1", "none")]);
  const meaning = "a SHA256 hash; the interface knows SHA1 only";
  expect(reasons).toEqual([{ name: "sha256", count: 2, status: "unsupported", meaning }]);
});

test("tells rows that were answered in part from those that were not, and says what is missing", async () => {
  const partial = { status: "partial", type: "IP" };
  const lacksBoth = { ...partial, missing: "serviceMailBlocklist|intent" };
  const failed = { status: "failed", error_code: "http_500" };
  const { outcomes, reasons } = await reportOf([
    ip("192.0.2.1", "", { ...partial, missing: "tags|intent" }),
    ip("192.0.2.2", "", { ...lacksBoth, quick_mail_blocklist: "NOT_LISTED" }),
    ip("192.0.2.3", "", lacksBoth),
    ip("192.0.2.4", "", { ...failed, quick_intent: "none" }),
    ip("192.0.2.5", "", failed),
    ip("192.0.2.6", "none"),
  ]);
  expect(outcomes).toMatchObject({ none: 1, part: 4, unchecked: 1 });
  expect(reasons.map(({ count, status, meaning }) => [count, status, meaning])).toEqual([
    [2, "failed", expect.any(String)],
    [2, "partial", "the answer lacks the intent"],
    [1, "partial", "the answer lacks the intent and the mail blocklist status"],
  ]);
});

test("counts networks and countries of malicious, suspicious and listed rows", async () => {
  const network = { asn: "AS64500", as_name: "EXAMPLE", as_country: "DE" };
  const { networks, countries } = await reportOf([
    ip("192.0.2.1", "listed", network),
    ip("192.0.2.2", "none", network),
  ]);
  expect(networks.entries).toEqual([{ name: "AS64500 EXAMPLE", count: 1 }]);
  expect(countries.entries).toEqual([{ name: "DE", count: 1 }]);
});

test("lists the worst items first: verdict, observations, last seen", async () => {
  const { offenders } = await reportOf([
    ip("192.0.2.1", "listed", { honeypot_observations: "900" }),
    ip("192.0.2.2", "malicious", { honeypot_observations: "2", spamtrap_observations: "3" }),
    ip("192.0.2.3", "malicious", { honeypot_observations: "5", last_seen: "2026-01-01T00:00:00Z" }),
    ip("192.0.2.4", "none"),
    ip("192.0.2.5", "suspicious", { abuse_email: "abuse@example.net" }),
  ]);
  const items = offenders.worst.map(({ item }) => Number(item.split(".")[3]));
  expect(items).toEqual([3, 2, 5, 1]);
  expect(offenders.worst[1]?.observations).toBe(5);
  expect(offenders.worst[2]?.abuseEmail).toBe("abuse@example.net");
});

test("keeps the input's own columns of an item's first row, without the item's column", async () => {
  const run = runOf({ item_column: "ip" });
  const rows = [
    ip("192.0.2.1", "malicious", {}, ["192.0.2.1", "vpn", ""]),
    ip("192.0.2.1", "malicious", {}, ["192.0.2.1", "mail", "x".repeat(10_000)]),
  ];
  const { offenders } = await reportOf(rows, ["ip", "log", "note"], run);
  expect(offenders.worst).toMatchObject([{ rows: 2, own: [["log", "vpn"]] }]);
  const longer = await reportOf(rows.toReversed(), ["ip", "log", "note"], run);
  const note = longer.offenders.worst[0]?.own[1]?.[1] ?? "";
  expect(note).toMatch(/^x{160}… \(10,000 characters\)$/);
});

test("keeps every digit of the input's own numbers", async () => {
  const json = '{"ip":"192.0.2.1","id":12345678901234567890,"note":null,"list":[1.0,"a"]}';
  const row = { ...ip("192.0.2.1", "malicious"), json };
  const { offenders } = await reportOf([row], [], runOf({ item_column: "ip" }));
  expect(offenders.worst[0]?.own).toEqual([
    ["id", "12345678901234567890"],
    ["list", '[1.0,"a"]'],
  ]);
});

test("keeps a bounded list of items, exact in what it keeps", async () => {
  const rows = Array.from({ length: 5000 }, (_, n) =>
    ip(`10.0.${n >> 8}.${n & 255}`, "malicious", {
      honeypot_observations: String((n * 7919) % 5000),
    }),
  );
  const { offenders } = await reportOf([...rows, ...rows]);
  expect(offenders.areMore).toBe(true);
  expect(offenders.worst).toHaveLength(100);
  expect(offenders.worst.map(({ observations }) => observations)).toEqual(
    Array.from({ length: 100 }, (_, place) => 4999 - place),
  );
  expect(new Set(offenders.worst.map(({ rows: count }) => count))).toEqual(new Set([2]));
});

test("says how many rows had names beyond those that are told apart", async () => {
  const rows = Array.from({ length: 65_536 + 5 }, (_, n) =>
    ip("192.0.2.1", "none", { tags: `t:${n}` }),
  );
  const { tags } = await reportOf(rows);
  expect(tags.more).toBe("65,526 more, and 5 rows whose names were too many to tell apart");
});
