import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { IdSet } from "../../../../src/formats/shapes/id-set.js";

it("tells what it has from what it has not, however many there are", () => {
  const ids = Array.from({ length: 20_000 }, () => randomUUID());
  const set = new IdSet();
  expect(ids.every((id) => set.add(id))).toBe(true);
  expect(ids.some((id) => set.add(id))).toBe(false);
  expect(set.size).toBe(20_000);
});

it("keeps identifiers apart that fall into the same slot", () => {
  const tail = "-0000-4000-8000-00000000000";
  const set = new IdSet();
  const ids = ["00000400", "00000800", "00000c00"].flatMap((head) =>
    ["1", "2"].map((end) => `${head}${tail}${end}`),
  );
  expect(ids.map((id) => set.add(id))).toEqual(ids.map(() => true));
  expect(ids.map((id) => set.add(id))).toEqual(ids.map(() => false));
});
