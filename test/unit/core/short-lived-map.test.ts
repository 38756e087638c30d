import { expect, test } from "vitest";
import { ShortLivedMap } from "../../../src/core/short-lived-map.js";

test("holds values until they are taken", () => {
  const map = new ShortLivedMap<string, number>();
  map.set("a", 1);
  map.set("b", 2);
  map.set("a", 3);
  expect([map.size, map.get("a"), map.take("a")]).toEqual([2, 3, 3]);
  expect([map.size, map.get("a"), map.take("a")]).toEqual([1, undefined, undefined]);
  expect([...map.keys()]).toEqual(["b"]);
});

test("lets entries be taken while its keys are read", () => {
  const map = new ShortLivedMap<number, string>();
  for (let n = 0; n < 50; n++) map.set(n, `value ${n}`);
  const taken = [];
  for (const key of map.keys()) taken.push(map.take(key));
  expect(taken).toHaveLength(50);
  expect(map.size).toBe(0);
});
