import { describe, expect, it } from "vitest";
import { scanCells } from "../../../../src/formats/reading/scan-cells.js";

const comma = { delimiter: "," };

describe("scanCells", () => {
  it.each([
    ["plain cells", "a,b,", ["a", "b", ""]],
    ["quoted cells", '"a,b","c ""d"""', ["a,b", 'c "d"']],
    ["quotes that are text", 'a 5" disk,"b"c,d', ['a 5" disk', '"b"c', "d"]],
    ["a quote that is never closed", 'a,"b', ["a", "b"]],
    ["nothing", "", [""]],
  ])("reads %s", (_, record, cells) => {
    expect(scanCells(record, comma)).toEqual(cells);
  });

  it("ignores spaces before a cell with `spaced`", () => {
    const cells = scanCells('"a", "b, c", d', { ...comma, spaced: true });
    expect(cells).toEqual(["a", "b, c", "d"]);
  });

  it("stops after the requested number of cells", () => {
    expect(scanCells("a,b,c,d", comma, 2)).toEqual(["a", "b"]);
  });
});
