import { describe, expect, it } from "vitest";
import { detectSourceFormat } from "../../../src/io/formats/registry.js";

describe("detectSourceFormat", () => {
  it.each([
    ["dump.csv", "csv"],
    ["dump.tsv", "tsv"],
    ["dump.ndjson", "ndjson"],
    ["dump.jsonl", "ndjson"],
    ["dump.json", "json"],
    ["folder.csv/DUMP.NDJSON", "ndjson"],
  ])("takes %s for %s", (path, format) => {
    expect(detectSourceFormat(path)).toEqual({ format, gzip: false });
  });

  it.each(["dump.csv.gz", "dump.csv.GZIP"])("ignores the compression of %s", (path) => {
    expect(detectSourceFormat(path)).toEqual({ format: "csv", gzip: true });
  });

  it.each(["-", "dump", "dump.txt", "folder.csv/dump", ".csv/x"])(
    "detects nothing in %s",
    (path) => {
      expect(detectSourceFormat(path).format).toBeNull();
    },
  );
});
