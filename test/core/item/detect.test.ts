import { describe, expect, it } from "vitest";
import { readSha1 } from "../../../src/core/item/detect.js";

const empty = "da39a3ee5e6b4b0d3255bfef95601890afd80709";

describe("readSha1", () => {
  it.each([
    ["lower case", empty],
    ["upper case", empty.toUpperCase()],
    ["a label in front", `sha1:${empty}`],
    ["a label with hyphen and space", `SHA-1: ${empty}`],
  ])("reads 40 hex digits with %s", (_, text) => {
    expect(readSha1(text)).toBe(empty);
  });

  it.each([
    ["39 digits", empty.slice(1)],
    ["41 digits", `${empty}0`],
    ["a letter that is no digit", `g${empty.slice(1)}`],
    ["the label of another hash", `md5:${empty}`],
    ["0x in front", `0x${empty}`],
  ])("is null for %s", (_, text) => {
    expect(readSha1(text)).toBeNull();
  });
});
