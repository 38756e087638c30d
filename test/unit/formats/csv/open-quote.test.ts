import { describe, expect, it } from "vitest";
import type { CsvDialect } from "../../../../src/formats/csv/csv-dialect.js";
import { ignoredLines, openQuoteAt } from "../../../../src/formats/csv/open-quote.js";

const dialect: CsvDialect = { delimiter: ",", spaced: false, comment: "#", lineEnd: "lf" };

describe("openQuoteAt", () => {
  it.each([
    ["the first cell", '"a,b\n', 0],
    ["a later cell", 'a,b,"c', 4],
    ["behind a closed quote", '"a","b', 4],
    ["behind a doubled quote", '"a""b",x,"c', 9],
    ["with a doubled quote in it", 'a,"b""c\n', 2],
    ["behind a quote that is text", 'a 5" disk,"b', 10],
    ["behind a quote that closes within a cell", '"a"b,"c', 5],
  ])("finds the quote in %s", (_, text, at) => {
    expect(openQuoteAt(text, dialect)).toBe(at);
  });

  it.each(["a,b", '"a",b', 'a,5" disk', '"a"', "", '"a"b"c'])("finds none in %j", (text) => {
    expect(openQuoteAt(text, dialect)).toBeNull();
  });
});

describe("ignoredLines", () => {
  it("counts blank and comment lines up to the first other one", () => {
    expect(ignoredLines('\n\r\n# "a\r\n\na,b\n\n', dialect)).toEqual({ length: 10, count: 4 });
  });

  it("leaves a comment that has not ended", () => {
    expect(ignoredLines("\n# a", dialect)).toEqual({ length: 1, count: 1 });
  });

  it("knows no comments when none are named", () => {
    expect(ignoredLines("# a\n", { ...dialect, comment: null })).toEqual({ length: 0, count: 0 });
  });

  it("takes CR for a line end where it is one", () => {
    const lines = ignoredLines("\r# a\r\ra", { ...dialect, lineEnd: "cr" });
    expect(lines).toEqual({ length: 6, count: 3 });
  });

  it("takes CR for text where it is none", () => {
    expect(ignoredLines("\ra\n", dialect)).toEqual({ length: 0, count: 0 });
  });
});
