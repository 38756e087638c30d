import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runRepute } from "../../helpers/run-repute.js";
import { workspace } from "../../helpers/workspace.js";

const samples = join(import.meta.dirname, "../../../samples/publishers");

/** Runs a command on a copy of a sample. */
async function run(command: string, name: string, ...args: readonly string[]) {
  const { read, run: own } = await workspace({ [name]: await readFile(join(samples, name)) });
  return { read, ...(await own(command, name, ...args)) };
}

test.each([
  // Wallets of every format with a checksum.
  ["wallets.csv", Array.from({ length: 8 }, () => "complete")],
  // Cells with several values, of which all but one have a single item.
  ["composite-cells.csv", ["complete", "complete", "complete", "several"]],
])("enriches the items of %s", async (name, statuses) => {
  const { code, read } = await run("enrich", name, "-o", "out.ndjson", "--local", "--quiet");
  expect(code).toBe(0);
  const lines = (await read("out.ndjson")).trimEnd().split("\n");
  const found = lines.map((line) => {
    const { rep } = JSON.parse(line) as { rep: { status: string; error?: { code: string } } };
    return rep.error?.code ?? rep.status;
  });
  expect(found).toEqual(statuses);
});

test.each([
  ["prose-report.txt", 12, "billing@example.com,email,prose-report.txt,3,1"],
  ["stix-bundle.json", 8, "stix.example.com,domain,stix-bundle.json,11,1"],
  ["misp-event.json", 7, "kit.example.com,domain,misp-event.json,15,1"],
])("extracts the items of %s as rows that enrich takes", async (name, count, row) => {
  const { code, stdout } = await run("extract", name, "--quiet");
  expect([code, stdout.trimEnd().split("\n").length - 1]).toEqual([0, count]);
  expect(stdout).toContain(`\n${row}\n`);
  const enriched = await runRepute(["enrich", "-", "--local", "--quiet"], { stdin: stdout });
  expect([enriched.code, enriched.stdout.trimEnd().split("\n").length - 1]).toEqual([0, count]);
  expect(enriched.stdout).toMatch(/^item,kind,file,line,count,rep_item,/);
  // Without extract, enrich names it.
  const { stderr } = await run("enrich", name, "-o", "out.csv", "--local");
  expect(stderr.replaceAll(/\s+/g, " ")).toContain(
    `repute extract ${name} | repute enrich - -o OUT`,
  );
});

test("counts how often an item is found, defanged or not, over several files", async () => {
  const { run } = await workspace({
    "a.txt": "Block it.\nhost.example.com, host[.]example[.]com\n",
    "b.txt": "hxxp://example[.]net/x and HOST.example.com\n",
  });
  const { stdout } = await run("extract", "a.txt", "b.txt", "--quiet");
  expect(stdout.trimEnd().split("\n").slice(1)).toEqual([
    "host.example.com,domain,a.txt,2,3",
    "http://example.net/x,url,b.txt,1,1",
  ]);
});

test("counts what extract leaves out, and names the part of a mail that it cannot read", async () => {
  const part = "Content-Type: image/png; name=a.png\nContent-Transfer-Encoding: base64\n\n";
  const picture = Buffer.from("\x89PNG\r\n\x1a\n", "latin1").toString("base64");
  const { run } = await workspace({
    "a.eml": `Run main.rs, then main.rs and lib.py.\n\n${part}${picture}\n`,
  });
  const { code, stderr } = await run("extract", "a.eml");
  expect([code, stderr]).toEqual([
    0,
    "repute: a.eml, line 6: part a.png not read: a PNG image\n" +
      "repute: left out as file, version, code or internal host: 3 mentions (main.rs, lib.py, …); a defanged name (a[.]zip) is always an item\n" +
      "repute: no items found\n",
  ]);
});

test("names the sheets of a workbook that extract does not read, and reads one of them", async () => {
  const first = await run("extract", "workbook.xlsx");
  expect(first.stderr).toContain("only the first sheet of workbook.xlsx is read; --sheet reads");
  const other = await run("extract", "workbook.xlsx", "--sheet", "Hosts");
  expect(other.stderr).not.toContain("--sheet");
});

test("reads HTML, which enrich refuses with the command for it", async () => {
  const page = '<!doctype html>\n<a href="https://a.example.com/?b=1&amp;c=2">a</a>\n';
  const { run } = await workspace({ "page.html": page });
  const { stdout } = await run("extract", "page.html", "--quiet");
  expect(stdout).toContain("\nhttps://a.example.com/?b=1&c=2,url,page.html,2,1\n");
  const { code, stderr } = await run("enrich", "page.html", "--local");
  expect([code, stderr.replaceAll(/\s+/g, " ")]).toEqual([
    2,
    expect.stringContaining("is an HTML page; ") as string,
  ]);
  expect(stderr).toContain("repute extract page.html | repute enrich - -o OUT");
});

test.each([
  ["<?xml version='1.0'?>\n<feed><link>http://a.example.com/?b=1&amp;c=2</link></feed>\n", true],
  ["<stix:Package>\n<a:b>http://a.example.com/?b=1&amp;c=2</a:b></stix:Package>\n", true],
  ["<p>See http://a.example.com/?b=1&amp;c=2</p>\n", true],
  ["See http://a.example.com/?b=1&amp;c=2\n", false],
])("reads entities in markup, and leaves other text as it is written: %j", async (text, isRead) => {
  const { stdout } = await runRepute(["extract", "-", "--quiet"], { stdin: text });
  expect(stdout.split("\n")[1]?.split(",")[0]).toBe(
    isRead ? "http://a.example.com/?b=1&c=2" : "http://a.example.com/?b=1&amp;c=2",
  );
});
