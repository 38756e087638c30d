import { expect, test } from "vitest";
import { KnownItems } from "../../../../src/jobs/enrich/rows/known-items.js";

test("counts each item once, and tells whether it is new", () => {
  const known = new KnownItems();
  const item = (n: number) => ({ kind: "domain", value: `d${n}.example` }) as const;
  for (let n = 0; n < 20_000; n++) expect(known.add(item(n % 7000))).toBe(n < 7000);
  expect(known.size).toBe(7000);
  expect(known.add(item(7000))).toBe(true);
});
