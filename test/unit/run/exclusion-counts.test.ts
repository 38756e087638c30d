import { expect, test } from "vitest";
import { ExclusionList, excludedMessage } from "../../../src/core/exclusions/exclusion-list.js";
import { ExclusionCounts } from "../../../src/run/exclusion-counts.js";

test("a list keeps its count, however the command that resumes the run spells it", () => {
  const counts = new ExclusionCounts([
    { path: "ours.txt", entries: 1, sha256: "aa", rows: 3 },
    { path: "theirs.txt", entries: 2, sha256: "bb", rows: 5 },
  ]);
  counts.add([new ExclusionList("./ours.txt", "aa"), new ExclusionList("theirs.txt", "bb")]);
  counts.row(excludedMessage("./ours.txt"));
  counts.row(excludedMessage("unknown.txt"));
  expect(counts.snapshot().exclusions).toMatchObject([
    { path: "./ours.txt", rows: 4 },
    { path: "theirs.txt", rows: 5 },
  ]);
});
