import { describe, expect, it } from "vitest";
import { matchColumn, warnOfDuplicateName } from "../../../../src/formats/columns/find-column.js";
import { Warnings } from "../../../../src/formats/reading/lines.js";

describe("matchColumn", () => {
  it("takes the column of exactly that name before all others", () => {
    expect(matchColumn(["DATA", " data", "data"], "data")).toEqual({ name: "data", index: 2 });
  });

  it("ignores spaces around a name before letter case", () => {
    expect(matchColumn(["DATA", " data "], "data")).toEqual({ name: " data ", index: 1 });
  });

  it("ignores letter case at last", () => {
    expect(matchColumn(["note", " Data"], "data ")).toEqual({ name: " Data", index: 1 });
  });

  it("takes the first of columns with the same name", () => {
    expect(matchColumn(["data", "data"], "data")?.index).toBe(0);
  });

  it("takes a name with the # of a header in a comment for the name", () => {
    expect(matchColumn(["id", "ip"], "#id")).toEqual({ name: "id", index: 0 });
  });

  it("finds a column without a name by its place", () => {
    expect(matchColumn(["ip", " "], "column_2")).toEqual({ name: " ", index: 1 });
    expect(matchColumn(["ip", "note"], "column_2")).toBeNull();
  });

  it("finds nothing where nothing is", () => {
    expect(matchColumn(["note"], "data")).toBeNull();
  });
});

describe("warnOfDuplicateName", () => {
  it("tells that the first of several columns is used", () => {
    const warnings = new Warnings();
    warnOfDuplicateName(["data ", "note", "data"], { name: "data ", index: 0 }, warnings);
    expect([...warnings.counts.keys()]).toEqual([
      'several columns are named "data"; the first of them is used',
    ]);
  });

  it("is silent about a name of its own", () => {
    const warnings = new Warnings();
    warnOfDuplicateName(["data", "note", "note"], { name: "data", index: 0 }, warnings);
    expect(warnings.counts.size).toBe(0);
  });
});
