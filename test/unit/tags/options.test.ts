import { expect, test } from "vitest";
import { tagExportOptions } from "../../../src/tags/options.js";

test("by default a list is text, with the export before it kept", () => {
  expect(tagExportOptions.parse({})).toEqual({
    formats: ["txt"],
    formulaGuard: true,
    keep: 2,
    parallel: 4,
    prune: false,
    restart: false,
  });
});

test("formats are joined by commas, each once", () => {
  expect(tagExportOptions.parse({ formats: "nft, txt,nft" }).formats).toEqual(["nft", "txt"]);
});

test("a format that is none is refused with those there are", () => {
  const parsed = tagExportOptions.safeParse({ formats: "txt,pdf" });
  expect(parsed.error?.issues[0]?.message).toBe(
    "must be of txt, csv, ndjson, cidr, nft, ipset, parquet",
  );
});

test("keeping no export is refused", () => {
  expect(tagExportOptions.safeParse({ keep: "0" }).success).toBe(false);
});
