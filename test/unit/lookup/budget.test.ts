import { expect, test } from "vitest";
import type { EarlyEndError } from "../../../src/core/errors.js";
import { budget } from "../../../src/lookup/compose.js";
import { complete, item, scripted, unaborted } from "./attempts.js";

test("all endpoints together stay within the budget", async () => {
  const ends: EarlyEndError[] = [];
  const query = scripted(complete());
  const quickCheck = scripted(complete());
  const counted = budget({ maxRequests: 3, onSpent: (error) => ends.push(error) });
  const lookups = [counted(query), counted(quickCheck), counted(query), counted(quickCheck)];
  const settled = await Promise.allSettled(lookups.map((each) => each(item, unaborted())));
  expect(query.asked.length + quickCheck.asked.length).toBe(3);
  expect(settled.map(({ status }) => status)).toEqual([
    "fulfilled",
    "fulfilled",
    "fulfilled",
    "rejected",
  ]);
  expect(ends).toHaveLength(1);
});
