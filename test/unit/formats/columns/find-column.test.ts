import { describe, expect, it } from "vitest";
import { matchColumn, warnOfDuplicateName } from "../../../../src/formats/columns/find-column.js";
import { Warnings } from "../../../../src/formats/reading/lines.js";

describe("matchColumn", () => {
  it("prefers an exact match", () => {
    expect(matchColumn(["DATA", " data", "data"], "data")).toEqual({ name: "data", index: 2 });
  });

  it("then ignores surrounding spaces", () => {
    expect(matchColumn(["DATA", " data "], "data")).toEqual({ name: " data ", index: 1 });
  });

  it("then ignores case", () => {
    expect(matchColumn(["note", " Data"], "data ")).toEqual({ name: " Data", index: 1 });
  });

  it("and quotes, which are kept if a space follows", () => {
    expect(matchColumn(["note", '"IP Address" '], "ip address")?.index).toBe(1);
  });

  it("accepts a name with the # of a commented header", () => {
    expect(matchColumn(["id", "ip"], "#id")).toEqual({ name: "id", index: 0 });
  });

  it("finds an unnamed column by position", () => {
    expect(matchColumn(["ip", " "], "column_2")).toEqual({ name: " ", index: 1 });
    expect(matchColumn(["ip", "note"], "column_2")).toBeNull();
  });
});

describe("warnOfDuplicateName", () => {
  it("warns that the first of several columns is used", () => {
    const warnings = new Warnings();
    warnOfDuplicateName(["data ", "note", "data"], { name: "data ", index: 0 }, warnings);
    expect([...warnings.counts.keys()]).toEqual([
      'several columns are named "data"; using the first',
    ]);
  });
});
