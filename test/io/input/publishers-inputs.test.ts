import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Manifest } from "../../../src/core/manifest.js";
import { runRepute } from "../../helpers/run-repute.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

const samples = join(import.meta.dirname, "../../../samples/publishers");

interface Enriched {
  readonly [member: string]: unknown;
  readonly rep: { readonly kind: string | null; readonly status: string };
}

async function enriched(name: string, flags: readonly string[] = []) {
  const out = join(await temporaryFolder(), "out.ndjson");
  const args = ["enrich", join(samples, name), "-o", out, "--local", "--shape", "nested", ...flags];
  const { code, stderr } = await runRepute(args);
  expect(code, stderr).toBe(0);
  const lines = (await readFile(out, "utf8")).trimEnd().split("\n");
  const { input } = JSON.parse(await readFile(`${out}.manifest.json`, "utf8")) as Manifest;
  return { input, rows: lines.map((line) => JSON.parse(line) as Enriched) };
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
