import { join } from "node:path";
import { expect, test } from "vitest";
import { runRepute } from "../../helpers/run-repute.js";
import { workspace } from "../../helpers/workspace.js";

const samples = join(import.meta.dirname, "../../../samples/publishers");

interface Enriched {
  readonly [member: string]: unknown;
  readonly rep: { readonly kind: string | null; readonly status: string };
}

async function enriched(name: string, flags: readonly string[] = []) {
  const { manifest, read, run } = await workspace();
  const args = ["-o", "out.ndjson", "--local", "--shape", "nested", ...flags];
  const { code, stderr } = await run("enrich", join(samples, name), ...args);
  expect(code, stderr).toBe(0);
  const lines = (await read("out.ndjson")).trimEnd().split("\n");
  const { input } = await manifest("out.ndjson");
  return { input, stderr, rows: lines.map((line) => JSON.parse(line) as Enriched) };
}

test.each([
  ["title-lines.csv", "indicator", ["ip", "domain", "url", "sha1"]],
  ["hits.csv", "destination", ["domain", "ip", "url"]],
  ["array.json", "indicator", ["ip", "email", "sha1"]],
  ["export.json", "ioc", ["ip", "domain", "url"]],
  ["utf-16.csv", "Indikator", ["ip", "domain"]],
  ["workbook.xlsx", "Indicator", ["ip", "domain", "url"]],
  ["hashes.csv", "sha1", ["sha1", "sha1"]],
  ["hashes-and-c2.csv", "C2 Server", ["ip", "domain", "url"]],
])("%s needs no flag: its items are in %s", async (name, column, kinds) => {
  const { input, rows } = await enriched(name);
  expect(input.item_column).toBe(column);
  expect(rows.map(({ rep }) => `${rep.kind} ${rep.status}`)).toEqual(
    kinds.map((kind) => `${kind} complete`),
  );
});

test.each([
  [
    "misp-export.csv",
    "value",
    '7 of 7 sampled cells are indicators); "type" holds the kinds',
    ["ip", "domain", "url", "sha1", null, null, "email"],
  ],
  [
    "commented-header.csv",
    "ioc_value",
    '4 of 4 sampled cells are indicators); "ioc_type" holds the kinds',
    ["ip", "url", "domain", null],
  ],
  ["semicolons.csv", "Peer", "3 of 3 sampled cells are indicators)", ["ip", "ip", "domain"]],
  ["counted-list.txt", "IP", "4 of 4 sampled cells are indicators)", ["ip", "ip", "ip", "ip"]],
  [
    "report.csv",
    "Data",
    '7 of 8 sampled cells are indicators); "Indicator" holds the kinds',
    [null, "ip", "domain", "url", null, null, null, null],
  ],
])("%s needs no flag: the run says why its items are in %s", async (name, column, why, kinds) => {
  const { input, stderr, rows } = await enriched(name);
  expect(stderr).toContain(`repute: using column "${column}" (${why}\n`);
  expect(rows.map(({ rep }) => rep.kind)).toEqual(kinds);
  expect(input.item_column).toBe(column);
});

test("title lines are skipped, printed and recorded", async () => {
  const { stderr } = await runRepute(["plan", join(samples, "title-lines.csv")]);
  expect(stderr).toContain("skipping 3 lines before the first record: Weekly indicators");
  const { input } = await enriched("title-lines.csv");
  expect(input).toMatchObject({ skipped_lines: 3 });
});

test("Latin-1 is named in the warning that suggests --encoding, and read as text with it", async () => {
  const suggested = await runRepute(["enrich", join(samples, "latin-1.csv"), "--local"]);
  expect(suggested.stderr).toContain("--encoding");
  const { input, rows } = await enriched("latin-1.csv", ["--encoding", "windows-1252"]);
  expect(input.item_column).toBe("Indikator");
  const shown = rows.map(({ rep, ...row }) => [rep.kind, rep.status, Object.values(row).join()]);
  expect(shown).toEqual([
    ["ip", "complete", "verdächtig,192.0.2.66,Köln"],
    ["domain", "complete", "geprüft,login.example.com,Münster – Süd"],
  ]);
});

test("of a firewall log, the public addresses are looked up, and both columns on request", async () => {
  const { input: chosen } = await enriched("firewall.csv", []);
  expect(chosen).toMatchObject({ item_column: "dst_ip", rows: 10 });
  const both = ["--item-column", "src_ip", "--item-column", "dst_ip"];
  const { input, rows } = await enriched("firewall.csv", both);
  expect(input).toMatchObject({ item_column: "src_ip,dst_ip", rows: 20 });
  const statuses = rows.map(({ rep }) => `${rep.kind} ${rep.status}`);
  expect(statuses.filter((status) => status !== "ip complete")).toEqual(["null unsupported"]);
});

test("one command finds the bad addresses in a firewall log", async () => {
  const { manifest, records, run } = await workspace();
  const bad = ["--item-column", "dst_ip", "--only", "malicious,suspicious,listed", "--distinct"];
  const args = [...bad, "--columns", "verdict,tags", "-o", "out.csv", "--local"];
  const { code, stderr } = await run("enrich", join(samples, "firewall.csv"), ...args);
  expect(code, stderr).toBe(0);
  const rows = await records();
  expect(Object.keys(rows[0]!).join()).toBe(
    "timestamp,action,src_ip,src_port,dst_ip,dst_port,proto,bytes,rep_status,rep_verdict,rep_tags",
  );
  expect(rows.map((row) => [row["dst_ip"], row["rep_verdict"]])).toEqual([
    ["192.0.2.1", "malicious"],
    ["203.0.113.40", "suspicious"],
    ["192.0.2.15", "malicious"],
    ["2001:db8::bad:1", "malicious"],
  ]);
  expect(stderr).toContain("10 read, 4 written");
  expect(await manifest()).toMatchObject({
    input: { rows: 10 },
    output: { rows: 4 },
    left_out: { only: 3, distinct: 3 },
  });
  expect(await run("verify", "out.csv")).toMatchObject({ code: 0 });
});
