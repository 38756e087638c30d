import { expect, test } from "vitest";
import { damageRounds } from "../../jobs/enrich/killed/damage-rounds.js";

test("damage to a cache or quota count never makes a row wrong", async () => {
  // A failure names its seed; test/jobs/enrich/killed/damage-rounds.ts repeats it.
  const from = Math.floor(Math.random() * 2 ** 30);
  const seeds = Array.from({ length: 60 }, (_, n) => from + n);
  expect(await damageRounds(seeds)).toHaveLength(seeds.length);
});

test("a damaged cache or quota count costs requests or time, never a wrong row", async () => {
  // Those behind the range change a column's name, types of values and columns, and the file's write version.
  const changes = [1_026_035_311, 77_000_358, 77_002_406, 77_002_051, 123_001_384];
  const seeds = [...Array.from({ length: 40 }, (_, n) => 1_000 + n), ...changes];
  const rounds = await damageRounds(seeds);
  expect(rounds).toHaveLength(seeds.length);
  const outcomes = rounds.map(({ code, stderr = "" }) => (stderr === "" ? "unseen" : `${code}`));
  // Every effect occurs: none, a warning, a quota that has to wait.
  expect(new Set(outcomes)).toEqual(new Set(["unseen", "0", "75"]));
});
