import { expect, test } from "vitest";
import { RepeatedFindings } from "../../../../src/lookup/journal/repeated-findings.js";
import { complete } from "../findings.js";

test("has the latest findings and no more", () => {
  const repeated = new RepeatedFindings(2);
  for (const key of ["a", "b", "c"]) repeated.add(key, complete({ key }));
  expect(["a", "b", "c"].map((key) => repeated.get(key)?.query?.["key"])).toEqual([
    undefined,
    "b",
    "c",
  ]);
});

test("takes a newer finding for a key that it has", () => {
  const repeated = new RepeatedFindings(2);
  repeated.add("a", complete({ n: 1 }));
  repeated.update("a", complete({ n: 2 }));
  expect(repeated.get("a")?.query?.["n"]).toBe(2);
});

test("takes no finding for a key that it does not have", () => {
  const repeated = new RepeatedFindings(2);
  repeated.update("a", complete());
  expect(repeated.get("a")).toBeUndefined();
});
