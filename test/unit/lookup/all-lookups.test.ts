import { expect, test } from "vitest";
import { EarlyEndError, FatalError } from "../../../src/core/errors.js";
import { allLookups } from "../../../src/lookup/combine.js";
import { complete, held, item, unaborted } from "./findings.js";

test("an early end at one endpoint waits for requests open at the other", async () => {
  const query = held();
  const end = new EarlyEndError("requests_spent", "enough");
  let over = false;
  const both = allLookups([
    ["query", query],
    ["quick-check", () => Promise.reject(end)],
  ])(item, unaborted());
  both.catch(() => (over = true));
  await new Promise(setImmediate);
  expect(over).toBe(false);
  query.open[0]?.answer(complete());
  await expect(both).rejects.toBe(end);
});

test("a fatal error ends both at once", async () => {
  const fault = new FatalError("unauthorized", "no");
  const both = allLookups([
    ["query", held()],
    ["quick-check", () => Promise.reject(fault)],
  ])(item, unaborted());
  await expect(both).rejects.toBe(fault);
});
