import { describe, expect, it } from "vitest";
import { findPreamble } from "../../../../src/io/formats/csv/find-preamble.js";
import { headLines } from "../../../../src/io/formats/reading/sample.js";

function skippedLines(text: string): number {
  const lines = headLines(Buffer.from(text), { lineEnd: "lf", comment: "#" });
  return findPreamble(lines, ["\t", ";", ","], { header: null, itemColumn: null }).skippedLines;
}

const rows = "192.0.2.1,ip,90\nexample.com,domain,80\n";

describe("findPreamble", () => {
  it.each([
    ["a title above the header", `Report of the week\nindicator,type,score\n${rows}`, 1],
    [
      "a title with a comma, and a blank line",
      `Report, week 9\n\nindicator,type,score\n${rows}`,
      2,
    ],
    ["a rule", `Report, week 9\n=====\nindicator,type,score\n${rows}`, 2],
    ["a title filled up with empty cells", `Report,,\nindicator,type,score\n${rows}`, 1],
    ["the delimiter for Excel", "sep=;\na;b;c\n192.0.2.1;ip;90\n", 1],
    ["a title and no rows", "Report\n\nindicator;type\n", 2],
    ["a comment before and after the title", `# x\nReport\n# y\nindicator,type,score\n${rows}`, 3],
  ])("skips %s", (_, text, lines) => {
    expect(skippedLines(text)).toBe(lines);
  });

  it.each([
    ["a header", `indicator,type,score\n${rows}`],
    ["a short header", `indicator\n${rows}`],
    ["a short first row", `192.0.2.9\n${rows}`],
    ["a short header of two cells", `indicator,type\n${rows}`],
    ["a list", "Bad hosts\n\n192.0.2.1\n192.0.2.2\n"],
    ["a quoted header of two lines", `"IP\naddress",type\n192.0.2.1,ip\n192.0.2.2,ip\n`],
    ["comments", `# x\n#\n\nindicator,type,score\n${rows}`],
  ])("keeps %s", (_, text) => {
    expect(skippedLines(text)).toBe(0);
  });
});
