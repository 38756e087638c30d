import { expect, test } from "vitest";
import { tagExportOptions } from "../../../src/jobs/tags/options.js";

test("formats are comma-separated and deduplicated", () => {
  expect(tagExportOptions.parse({ formats: "nft, txt,nft" }).formats).toEqual(["nft", "txt"]);
});

test("an unknown format is refused with the known ones", () => {
  const parsed = tagExportOptions.safeParse({ formats: "txt,pdf" });
  expect(parsed.error?.issues[0]?.message).toBe(
    'must not contain the unknown format "pdf"; known are txt, csv, ndjson, cidr, nft, ipset',
  );
});
