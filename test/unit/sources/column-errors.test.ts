import { describe, expect, it } from "vitest";
import { noItemColumn, unknownColumn } from "../../../src/sources/column-errors.js";

describe("unknownColumn", () => {
  const error = unknownColumn("dump.csv", ["Indicator_type", " Data ", "Note"], {
    flag: "--item-column",
    wanted: "Dta",
  });

  it("has a stable code", () => {
    expect(error.code).toBe("column_not_found");
  });

  it("names the input, the flag and every column", () => {
    expect(error.message).toBe(
      'dump.csv has no column "Dta" (--item-column). Its columns are: "Indicator_type", "Data", "Note".',
    );
  });

  it("suggests the column that was meant", () => {
    expect(error.hint).toBe('Did you mean "Data"?');
  });

  it("names the flag again where no column is near", () => {
    const other = unknownColumn("dump.csv", ["Note"], {
      flag: "--kind-column",
      wanted: "hostname",
    });
    expect(other.hint).toBe("Give --kind-column one of them.");
  });

  it("shows control characters instead of sending them to the terminal", () => {
    const other = noItemColumn("dump.csv", ["\u001b[31mred"]);
    expect(other.message).toContain('"\\u001b[31mred"');
  });

  it("cuts an overlong name", () => {
    const other = noItemColumn("dump.csv", ["x".repeat(5000)]);
    expect(other.message.length).toBeLessThan(300);
  });
});

describe("noItemColumn", () => {
  it("names what it looked for, every column and the flag that helps", () => {
    const error = noItemColumn("dump.csv", ["Data", "Note"]);
    expect(`${error.message} ${error.hint}`).toBe(
      "dump.csv has none of the columns item, indicator, ioc, value, ip, domain, url. " +
        'Its columns are: "Data", "Note". Say with --item-column NAME which one holds the items.',
    );
  });

  it.each([
    ["Data\tNote", "tabs"],
    ["Data,Note", "commas"],
    ["Data;Note", "semicolons"],
  ])("sees in a single column %j that it is separated by %s", (column, separator) => {
    expect(noItemColumn("dump", [column]).hint).toContain(separator);
  });

  it("does not list what is no text", () => {
    const { message, hint } = noItemColumn("dump.csv", ["PK\u0003\u0004", "x"]);
    expect(message).toBe("dump.csv does not begin with names of columns");
    expect(hint).toContain("no text file");
  });
});
