import { describe, expect, it } from "vitest";
import { scanCells } from "../../../../src/io/formats/reading/sample.js";

const comma = { delimiter: "," };

describe("scanCells", () => {
  it.each([
    ["plain cells", "a,b,", ["a", "b", ""]],
    ["quoted cells", '"a,b","c ""d"""', ["a,b", 'c "d"']],
    ["quotes that are text", 'a 5" disk,"b"c,d', ['a 5" disk', "bc", "d"]],
    ["nothing", "", [""]],
  ])("reads %s", (_, record, cells) => {
    expect(scanCells(record, comma)).toEqual({ cells, openQuote: null });
  });

  it("ignores spaces before a cell with `spaced`", () => {
    const { cells } = scanCells('"a", "b, c", d', { ...comma, spaced: true });
    expect(cells).toEqual(["a", "b, c", "d"]);
  });

  it("stops after the requested number of cells", () => {
    expect(scanCells("a,b,c,d", comma, 2).cells).toEqual(["a", "b"]);
  });

  it.each([
    ["the first cell", '"a,b\n', 0],
    ["a later cell", 'a,b,"c', 4],
    ["a cell behind a closed quote", '"a","b', 4],
    ["a cell behind a doubled quote", '"a""b",x,"c', 9],
    ["a cell with a doubled quote in it", 'a,"b""c\n', 2],
    ["a cell behind a quote that is text", 'a 5" disk,"b', 10],
    ["a cell behind a quote that closes too early", '"a"b,"c', 5],
  ])("finds the quote that is still open in %s", (_, record, at) => {
    expect(scanCells(record, comma).openQuote).toBe(at);
  });

  it.each(["a,b", '"a",b', 'a,5" disk', '"a"', "", '"a"b"c'])(
    "finds no open quote in %j",
    (record) => {
      expect(scanCells(record, comma).openQuote).toBeNull();
    },
  );
});
