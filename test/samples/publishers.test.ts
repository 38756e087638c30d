import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import type { Manifest } from "../../src/core/manifest.js";
import { runRepute } from "../helpers/run-repute.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";

const samples = fileURLToPath(new URL("../../samples/publishers/", import.meta.url));

const kinds = {
  "misp-export.csv": ["ip", "domain", "url", "sha1", "", "", "email"],
  "commented-header.csv": ["ip", "url", "domain", ""],
  "semicolons.csv": ["ip", "ip", "domain"],
  "counted-list.txt": ["ip", "ip", "ip", "ip"],
  "report.csv": ["", "ip", "domain", "url", "", "", "", ""],
};

const chosen = {
  "misp-export.csv": ["value", "7 of 7", '; "type" holds the kinds'],
  "commented-header.csv": ["ioc_value", "4 of 4", '; "ioc_type" holds the kinds'],
  "semicolons.csv": ["Peer", "3 of 3", ""],
  "counted-list.txt": ["IP", "4 of 4", ""],
  "report.csv": ["Data", "7 of 8", '; "Indicator" holds the kinds'],
};

type Sample = keyof typeof kinds;

async function enriched(input: string, args: readonly string[] = []) {
  const out = join(await temporaryFolder(), "out.csv");
  const flags = ["-o", out, "--local", "--lookups", "quick-check", ...args];
  const { code, stderr } = await runRepute(["enrich", input, ...flags]);
  const text = await readFile(out, "utf8");
  const delimiter = text.includes(";rep_item;") ? ";" : ",";
  const rows: Record<string, string>[] = parse(text, { columns: true, delimiter });
  const manifest = JSON.parse(await readFile(`${out}.manifest.json`, "utf8")) as Manifest;
  return { code, stderr, rows, input: manifest.input };
}

test.each(Object.keys(kinds) as Sample[])("%s needs no flag", async (name) => {
  const { code, stderr, rows, input } = await enriched(join(samples, name));
  const [column, share, kindColumn] = chosen[name];
  expect(code).toBe(0);
  expect(stderr).toContain(
    `repute: using column "${column}" (${share} sampled cells are indicators)${kindColumn}\n`,
  );
  expect(rows.map((row) => row["rep_kind"])).toEqual(kinds[name]);
  expect(input.item_column).toBe(column);
});

test("a column without items is refused, and the other one named", async () => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "in.csv"), "name,ip\nalpha,192.0.2.1\nbeta,192.0.2.2\n");
  const flags = ["--item-column", "name", "-o", "out.csv", "--local"];
  const { code, stderr } = await runRepute(["enrich", "in.csv", ...flags], { cwd });
  expect(code).toBe(1);
  expect(stderr).toContain("repute: none of the 2 rows can be looked up");
  expect(stderr).toMatch(/^ {2}elsewhere +ip 2 \(not looked up\)$/m);
});
