import { expect, test } from "vitest";
import { RepeatedFindings } from "../../../../src/store/journal/repeated-findings.js";
import { complete } from "../../lookup/findings.js";

const keys = ["a", "b", "c", "d", "e", "f", "g"];

function heldOf(repeated: RepeatedFindings, asked: readonly string[]): readonly string[] {
  return asked.filter((key) => repeated.get(key) !== undefined);
}

test("has the latest findings, and not many more", () => {
  const repeated = new RepeatedFindings(2);
  for (const key of keys) repeated.add(key, complete({ key }));
  expect(heldOf(repeated, ["a", "b", "c", "d", "f", "g"])).toEqual(["f", "g"]);
});

test("keeps what is asked for again and again", () => {
  const repeated = new RepeatedFindings(2);
  for (const key of keys) {
    repeated.add(key, complete({ key }));
    repeated.get("a");
  }
  expect(heldOf(repeated, ["a", "b"])).toEqual(["a"]);
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
