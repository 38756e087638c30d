import { isUtf8 } from "node:buffer";
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { workspace } from "../../../helpers/workspace.js";

/** Latin-1 in a name, a cell and a surplus cell, and an escape that is text. */
const csv = Buffer.from("ip,B\xfc\n192.0.2.1,B\xfcro \\udcfc,\xfc\n", "latin1");

/** The same in a record and in a line that is none. */
const ndjson = Buffer.from('{"ip":"B\xfcro"}\nB\xfcro\n', "latin1");

async function enriched(name: string, bytes: Buffer, args: readonly string[]) {
  const { at, run, manifest } = await workspace({ [name]: bytes });
  const accepting = ["--fail-on", "never", "--max-failed", "100%"];
  const own = ["-o", "out", "--local", "--quiet", ...accepting];
  const { code, stderr } = await run("enrich", name, ...own, ...args);
  expect(code, stderr).toBe(0);
  return { bytes: await readFile(at("out")), manifest: await manifest("out") };
}

const message =
  "row with invalid UTF-8: CSV and TSV keep its bytes, other outputs have U+FFFD instead; if it is Windows-1252, use --encoding windows-1252";

test.each([
  ["nested", ["--to", "ndjson"]],
  ["flat", ["--to", "ndjson", "--shape", "flat"]],
  ["Elasticsearch", ["--to", "es-bulk"]],
])("JSON has U+FFFD for what is not UTF-8: %s", async (_, args) => {
  const { bytes, manifest } = await enriched("in.csv", csv, args);
  expect(isUtf8(bytes)).toBe(true);
  const text = bytes.toString().trimEnd().split("\n").at(-1)!;
  expect(text).toContain('"B\uFFFD":"B\uFFFDro \\\\udcfc"');
  // `JSON.stringify` escapes lone surrogates, and so does JSON within JSON.
  expect(JSON.stringify(JSON.parse(text)).replace("\\\\udcfc", "")).not.toMatch(/\\ud/);
  expect(text).toMatch(/"(?:rep_)?extra":"?\[\\?"\uFFFD/);
  expect(manifest).toMatchObject({ warnings: { [message]: 1 }, warned_rows: { [message]: 1 } });
});

test("records and lines that are none have U+FFFD", async () => {
  const { bytes } = await enriched("in.ndjson", ndjson, ["--to", "ndjson", "--item-column", "ip"]);
  expect(isUtf8(bytes)).toBe(true);
  expect(bytes.toString()).not.toMatch(/\\ud/);
  const lines = bytes.toString().trimEnd().split("\n");
  expect(lines.map((text) => JSON.parse(text) as unknown)).toMatchObject([
    { ip: "B\uFFFDro" },
    { rep: { status: "failed", extra: "B\uFFFDro" } },
  ]);
});

test("CSV keeps the bytes", async () => {
  const kept = await enriched("in.csv", csv, ["--to", "csv"]);
  expect(kept.bytes.toString("latin1")).toContain("\n192.0.2.1,B\xfcro \\udcfc,192.0.2.1,ip,");
  expect(kept.manifest.warnings).toMatchObject({ [message]: 1 });
});
