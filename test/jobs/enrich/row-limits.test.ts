import { describe, expect, it } from "vitest";
import { failOn, rowLimit } from "../../../src/jobs/enrich/failure-limits.js";

describe("--max-failed and --min-rows", () => {
  it.each([
    ["0", { rows: 0 }],
    ["500", { rows: 500 }],
    [500, { rows: 500 }],
    ["50%", { percent: 50 }],
    ["0.5%", { percent: 0.5 }],
    ["100%", { percent: 100 }],
  ])("reads %j", (text, limit) => {
    expect(rowLimit().parse(text)).toEqual(limit);
  });

  it.each(["", "-1", "1.5", "101%", "half", "%", "5 %x", "1e3", -1, 0.5])("refuses %j", (text) => {
    const { error } = rowLimit().safeParse(text);
    expect(error?.issues[0]?.message).toBe(
      "must be a number of rows such as 500, or a share such as 50%",
    );
  });
});

describe("--fail-on", () => {
  it("each word includes the statuses of the words before it", () => {
    const words = ["failed", "partial", "invalid", "unsupported", "never"];
    expect(words.map((word) => failOn().parse(word))).toEqual([
      { statuses: ["failed"], percent: null },
      { statuses: ["failed", "partial"], percent: null },
      { statuses: ["failed", "partial", "invalid"], percent: null },
      { statuses: ["failed", "partial", "invalid", "unsupported"], percent: null },
      { statuses: [], percent: null },
    ]);
  });

  it("accepts a word with a share", () => {
    expect(failOn().parse("unsupported:90%")).toMatchObject({ percent: 90 });
    expect(failOn().parse("failed:2.5%")).toEqual({ statuses: ["failed"], percent: 2.5 });
  });

  it.each([
    ["faled", /must be one of .*\(did you mean failed\?\)/],
    ["unsuported:90%", /did you mean unsupported\?/],
    ["failed:", /such as unsupported:90%/],
    ["failed:90", /such as unsupported:90%/],
    ["failed:101%", /such as unsupported:90%/],
    ["failed:x%", /such as unsupported:90%/],
    ["never:5%", /\(except never\)/],
    ["constructor", /must be one of/],
    ["", /must be one of/],
  ])("refuses %j", (text, message) => {
    expect(failOn().safeParse(text).error?.issues[0]?.message).toMatch(message);
  });
});
