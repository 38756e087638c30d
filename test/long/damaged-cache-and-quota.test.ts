import { expect, test } from "vitest";
import { damageRounds } from "../fault/damage-rounds.js";

test("whatever is damaged in a cache or quota count, no row is wrong", async () => {
  // What fails names its seed, with which test/fault/damage-rounds.ts repeats it.
  const from = Math.floor(Math.random() * 2 ** 30);
  const seeds = Array.from({ length: 340 }, (_, n) => from + n);
  expect(await damageRounds(seeds)).toHaveLength(seeds.length);
});
