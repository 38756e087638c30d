import { expect, test } from "vitest";
import { RepeatedRecords } from "../../../../src/store/journal/repeated-records.js";
import { complete } from "../../lookup/attempts.js";

const keys = ["a", "b", "c", "d", "e", "f", "g"];

function heldOf(repeated: RepeatedRecords, asked: readonly string[]): readonly string[] {
  return asked.filter((key) => repeated.get(key) !== undefined);
}

test("has the latest findings, and not many more", () => {
  const repeated = new RepeatedRecords(2);
  for (const key of keys) repeated.add(key, complete({ key }));
  expect(heldOf(repeated, ["a", "b", "c", "d", "f", "g"])).toEqual(["f", "g"]);
});

test("keeps what is asked for again and again", () => {
  const repeated = new RepeatedRecords(2);
  for (const key of keys) {
    repeated.add(key, complete({ key }));
    repeated.get("a");
  }
  expect(heldOf(repeated, ["a", "b"])).toEqual(["a"]);
});

test("takes a newer finding for a key that it has", () => {
  const repeated = new RepeatedRecords(2);
  repeated.add("a", complete({ n: 1 }));
  repeated.update("a", complete({ n: 2 }));
  expect(repeated.get("a")?.finding.answers.query?.result["n"]).toBe(2);
});

test("takes no finding for a key that it does not have", () => {
  const repeated = new RepeatedRecords(2);
  repeated.update("a", complete());
  expect(repeated.get("a")).toBeUndefined();
});
