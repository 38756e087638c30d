import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { detectSourceFormat } from "../../../src/io/formats/registry.js";
import { sniffFormat } from "../../../src/io/input/open-source.js";
import { piped, readSource } from "./sources/sources-reading.js";

const options = { gzip: false, comment: null };

async function formatOf(content: string | Buffer): Promise<string> {
  return (await sniffFormat(piped(content), options)).format;
}

describe("sniffFormat", () => {
  it.each([
    ["ndjson", '{"ip":"192.0.2.1"}\n{"ip":"192.0.2.2"}\n'],
    ["ndjson", '# export\n\n  {"ip":"192.0.2.1"}\n'],
    ["ndjson", '[{"ip":"192.0.2.1"}]'],
    ["tsv", "ip\tcount\n192.0.2.1\t4\n"],
    ["csv", "ip,count\n192.0.2.1,4\n"],
    ["csv", "ip,note\n192.0.2.1,\n192.0.2.2,\n192.0.2.3,\n"],
    ["csv", '192.0.2.1,"scan; login"\n192.0.2.2,"scan; mail"\n'],
    ["csv", 'ip,note\n192.0.2.1,"one\ntwo\nthree\nfour"\n192.0.2.2,x\n'],
    ["csv", "Indicator\n192.0.2.1\n192.0.2.2\n"],
    ["text", "# list\nexample.com\n"],
    ["text", "http://example.com/a,b\n"],
    ["text", "http://example.com/a,b\nhttp://example.com/c,d,e\nhttp://example.com/\n"],
    ["text", "192.0.2.1,\n192.0.2.2,\n"],
    ["text", "[2001:db8::1]:443\n192.0.2.1\n"],
    ["text", "a line\nanother, with a comma\n"],
    ["text", ""],
  ])("detects %s in %j", async (format, content) => {
    expect(await formatOf(content)).toBe(format);
  });

  it("detects formats in gzip data and UTF-16", async () => {
    expect(await formatOf(gzipSync("ip\tn\n192.0.2.1\t1\n"))).toBe("tsv");
    expect(await formatOf(Buffer.from("\ufeffip;n\n192.0.2.1;1\n", "utf16le"))).toBe("csv");
  });

  it("keeps all bytes of a stream", async () => {
    const content = "# list\n192.0.2.1\n192.0.2.2\n";
    const { input, format, comment } = await sniffFormat(piped(content, 3), options);
    const { rows } = await readSource(format, input, {
      comment,
      from: undefined,
      header: undefined,
      itemColumn: undefined,
    });
    expect(rows.map((row) => row.itemText)).toEqual(["192.0.2.1", "192.0.2.2"]);
  });
});

it.each([
  ["dump.CSV", "csv", false],
  ["dump.tsv", "tsv", false],
  ["dump.jsonl", "ndjson", false],
  ["dump.json", "json", false],
  ["folder.csv/DUMP.NDJSON", "ndjson", false],
  ["dump.csv.GZIP", "csv", true],
  ["-", null, false],
  ["dump.txt.gz", null, true],
  [".csv/x", null, false],
])("the name %s says %s", (path, format, gzip) => {
  expect(detectSourceFormat(path)).toEqual({ format, gzip });
});
