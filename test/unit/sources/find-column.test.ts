import { describe, expect, it } from "vitest";
import { matchColumn, matchCustomary, warnOfTwins } from "../../../src/sources/find-column.js";
import { Warnings } from "../../../src/sources/warnings.js";

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

  it("finds nothing where nothing is", () => {
    expect(matchColumn(["note"], "data")).toBeNull();
  });
});

describe("matchCustomary", () => {
  it("takes the names in their own order, not in that of the columns", () => {
    expect(matchCustomary(["url", "ip", " Indicator"])?.name).toBe(" Indicator");
  });

  it.each(["item", "indicator", "ioc", "value", "ip", "domain", "url"])("knows %s", (name) => {
    expect(matchCustomary(["note", name])?.index).toBe(1);
  });

  it("finds nothing among other names", () => {
    expect(matchCustomary(["note", "data"])).toBeNull();
  });
});

describe("warnOfTwins", () => {
  it("tells that the first of several columns is used", () => {
    const warnings = new Warnings();
    warnOfTwins(["data ", "note", "data"], { name: "data ", index: 0 }, warnings);
    expect([...warnings.counts.keys()]).toEqual([
      'several columns are named "data"; the first of them is used',
    ]);
  });

  it("is silent about a name of its own", () => {
    const warnings = new Warnings();
    warnOfTwins(["data", "note", "note"], { name: "data", index: 0 }, warnings);
    expect(warnings.counts.size).toBe(0);
  });
});
