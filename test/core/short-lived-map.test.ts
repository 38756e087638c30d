import { expect, test } from "vitest";
import { ShortLivedMap } from "../../src/core/short-lived-map.js";

test("holds values until they are taken", () => {
  const map = new ShortLivedMap<string, number>();
  map.set("a", 1);
  map.set("b", 2);
  map.set("a", 3);
  expect([map.size, map.get("a"), map.take("a")]).toEqual([2, 3, 3]);
  expect([map.size, map.get("a"), map.take("a")]).toEqual([1, undefined, undefined]);
  expect([...map.keys()]).toEqual(["b"]);
});
