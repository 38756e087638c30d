import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { recogniseItem } from "../../../src/core/item/recognise.js";
import { countLists } from "../../../src/jobs/report/contents.js";
import { html } from "../../../src/jobs/report/page/html.js";
import { reportPage } from "../../../src/jobs/report/page/page.js";
import { defang, defangLinks } from "../../../src/jobs/report/phrases.js";
import { reportText } from "../../../src/jobs/report/text.js";
import { anyText } from "../../helpers/any-text.js";
import { ip, record, reportOf, runOf } from "./rows.js";

const evil = `</style><script>alert(1)</script>"'\`<img src=x onerror=y>\u202Eexe\u0000`;

function hostile() {
  const names = ["item", "tags", "asn", "as_name", "as_country", "abuse_email", "last_seen"];
  const values = Object.fromEntries(names.map((name) => [name, evil]));
  return reportOf(
    [
      ip("192.0.2.1", "malicious", values, [evil, evil]),
      record({ kind: evil, status: "failed", error_code: evil, source: evil }),
    ],
    [evil, "b"],
    {
      ...runOf({ path: evil, item_column: evil }),
      started_at: evil,
      seconds: 1,
      requests: { [evil]: { total: 1, outcomes: {} } },
      synthetic: true,
    },
  );
}

test("has a part for everything that the rows tell", async () => {
  const known = {
    tags: "a:b",
    asn: "AS64500",
    as_name: "EXAMPLE",
    as_country: "DE",
    abuse_email: "abuse@example.net",
    spamtrap_observations: "1234",
    first_seen: "2026-01-01T00:00:00Z",
    last_seen: "2026-02-01T00:00:00Z",
  };
  const rows = [
    ip("192.0.2.1", "malicious", known, ["192.0.2.1", "ours"]),
    record({ status: "unsupported", error_code: "sha256" }),
  ];
  const run = {
    ...runOf({ item_column: "ip" }),
    exclusions: [{ path: "corp.txt", entries: 3, sha256: "", rows: 7 }],
  };
  const page = reportPage(await reportOf(rows, ["ip", "note"], run));
  const titles = Array.from(page.matchAll(/<h2[^>]*>([^<]*)</g), ([, title]) => title);
  expect(titles.join(", ")).toBe(
    "Verdicts by kind, Tags, Networks, Countries, Last seen, First seen, Worst items, Without a verdict, The run",
  );
  const [, worst = ""] = page.split('id="offenders"');
  const shown = ["a:b", "1,234", "AS64500 EXAMPLE, DE", "abuse@example.net", "ours"];
  for (const text of ["192[.]0[.]2[.]1", ...shown]) expect(worst).toContain(text);
});

test("every row is in one tile: that of its verdict, of too little known, or of not checkable", async () => {
  const rows = {
    malicious: ip("192.0.2.1", "malicious"),
    // Answered in part, but known to be bad: its verdict counts.
    "malicious ": ip("192.0.2.2", "malicious", { status: "partial", missing: "asn" }),
    suspicious: ip("192.0.2.3", "suspicious"),
    "on a mail blocklist": ip("192.0.2.4", "listed"),
    "nothing known": ip("192.0.2.5", "none"),
    "nothing known ": ip("192.0.2.6", "none", { status: "partial", missing: "reverse_dns" }),
    "too little known": ip("192.0.2.7", "", { status: "partial", missing: "intent", type: "IP" }),
    "not checkable": record({ status: "unsupported", error_code: "sha256" }),
    "not checkable ": record({ item: "192.0.2.8", kind: "ip", status: "failed" }),
  };
  const names = Object.keys(rows) as (keyof typeof rows)[];
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...names)), async (drawn) => {
      const page = reportPage(await reportOf(drawn.map((name) => rows[name])));
      const [, list = ""] = /<ul class="tiles">([^]*?)<\/ul>/.exec(page) ?? [];
      const tile = /<strong>([\d,]+)<[^]*?<\/span>([^<]+)<\/span\s*><span>([\d.]+)%</g;
      const tiles = [...list.matchAll(tile)].map(([, count, name]) => [name, Number(count)]);
      const counts = new Map(names.map((name) => [name.trim(), 0]));
      for (const name of drawn) counts.set(name.trim(), counts.get(name.trim())! + 1);
      expect(tiles).toEqual([...counts]);
    }),
    { numRuns: 30 },
  );
});

test("the policy allows the page's own style and nothing else", async () => {
  const page = reportPage(await reportOf([ip("192.0.2.1", "malicious")]));
  const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1];
  const style = /<style>([^]*?)<\/style>/.exec(page)?.[1] ?? "";
  const hash = createHash("sha256").update(style).digest("base64");
  expect(policy).toBe(
    `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`,
  );
});

test("refers to nothing outside the page and has no script", async () => {
  const page = reportPage(await hostile());
  expect(page).not.toMatch(
    /<script|<img|<iframe|<link|<object|<[^>]*\s(?:on\w+|src|style)=|url\(|@import|https?:\/\//i,
  );
  expect([...page.matchAll(/href="([^"]*)"/g)].every(([, to = ""]) => to.startsWith("#"))).toBe(
    true,
  );
  expect(page.match(/<style>/g)).toHaveLength(1);
  expect(page).not.toContain("\u202E");
  expect(page).not.toContain("\u0000");
});

test("no text gets out of its place", () => {
  fc.assert(
    fc.property(anyText(), (text) => {
      const { text: made } = html`<p title="${text}">${text}</p>`;
      const inside = /^<p title="([^]*)">([^]*)<\/p>$/.exec(made)!;
      for (const part of inside.slice(1)) expect(part).not.toMatch(/[<>"'`]/);
    }),
  );
});

test("an empty output has a page that says so, and a row that failed without a code is just failed", async () => {
  const page = reportPage(await reportOf([]));
  expect(page).toContain("<h1>There were no rows to check.</h1>");
  expect(page).not.toContain("NaN");
  const text = reportText(await reportOf([record({ status: "failed" })]), 80);
  expect(text).toMatch(/^ +1 {2}failed$/m);
});

test.each([40, 80, 120])("text fits %s columns and steers no terminal", async (width) => {
  const lines = reportText(await hostile(), width).split("\n");
  expect(lines.filter((line) => line.length > width)).toEqual([]);
  // oxlint-disable-next-line no-control-regex
  expect(lines.join("\n")).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u202E]/);
});

test("text has a bar for each count", async () => {
  const rows = [ip("192.0.2.1", "malicious", { tags: "a:b" }), ip("192.0.2.2", "none")];
  expect(reportText(await reportOf(rows), 60)).toMatchInlineSnapshot(`
    "Of 2 rows, 1 is malicious.

    Nothing is known against 1 (50.0%), which does not make it
    safe.

    Verdicts
      malicious            ███████████████████████████ 1   50.0%
      suspicious                                       0      0%
      on a mail blocklist                              0      0%
      nothing known        ███████████████████████████ 1   50.0%
      too little known                                 0      0%
      not checkable                                    0      0%

    Kinds
      ip  ████████████████████████████████████████ 2

    Tags (rows that carry the tag)
      a:b  ████████████████████████████████████████ 1

    Worst items
      malicious   192[.]0[.]2[.]1
                  a:b

    The run
      Output    out.csv
      Answers   from the service 100%
      Requests  unknown: there is no manifest beside the output
    "
  `);
});

test.each([
  ["ip", "192.0.2.1", "192[.]0[.]2[.]1"],
  ["ip", "2001:db8::1", "2001:db8::1"],
  ["url", "http://[2606:4700::1]:8080/a", "hxxp://[2606:4700::1]:8080/a"],
  ["domain", "login.example.com", "login[.]example[.]com"],
  ["url", "http://example.com/a.b?c=d.e", "hxxp://example[.]com/a.b?c=d.e"],
  ["email", "ada.b@example.net", "ada[.]b[@]example[.]net"],
  ["sha1", "3395856ce81f2b7382dee72602f798b642f14140", "3395856ce81f2b7382dee72602f798b642f14140"],
])("defangs %s %s", (kind, item, shown) => {
  expect(defang(item, kind)).toBe(shown);
  expect(recogniseItem(shown).item).toEqual({ kind, value: item });
});

test("undoes every scheme of a link", () => {
  expect(defangLinks("see https://example.com, JAVASCRIPT:alert(1) and data:text/html,x")).toBe(
    "see hxxps://example.com, JAVASCRIPT[:]alert(1) and data[:]text/html,x",
  );
});

/** The list of a page or text by month. */
async function lastSeen(...times: readonly string[]) {
  const rows = times.map((time) => ip("192.0.2.1", "none", { last_seen: time }));
  return countLists(await reportOf(rows)).find(({ title }) => title === "Last seen");
}

test("times are counted by month without gaps, the newest first, and the earlier ones together", async () => {
  const recent = await lastSeen("2026-03-31T00:00:00Z", "2026-03-01T00:00:00Z", "2025-12-31");
  expect(recent?.entries.map(({ name, count }) => [name, count])).toEqual([
    ["2026-03", 2],
    ["2026-02", 0],
    ["2026-01", 0],
    ["2025-12", 1],
  ]);
  const old = await lastSeen("2026-03-01T00:00:00Z", "2001-01-01T00:00:00Z");
  expect([old?.entries.length, old?.more]).toEqual([12, "1 row earlier"]);
});

test("ignores text that is no time", async () => {
  const times = ["", "yesterday", "9999-01-01T00:00:00Z", "2026-99-99T00:00:00Z", "1999-12-31"];
  expect(await lastSeen(...times)).toBeUndefined();
});
