import { expect, test } from "vitest";
import { rateLimit } from "../../../src/service/responder.js";
import { ManualClock } from "../../helpers/manual-clock.js";

test("admits one window's worth at once and tells how long the next must wait", () => {
  const limit = rateLimit({ count: 4, perMs: 1000 }, new ManualClock());
  expect([limit(), limit(), limit(), limit(), limit()]).toEqual([0, 0, 0, 0, 250]);
});

test("admits another once its time has come", async () => {
  const clock = new ManualClock();
  const limit = rateLimit({ count: 1, perMs: 1000 }, clock);
  limit();
  await clock.advance(1000);
  expect(limit()).toBe(0);
});

test("saves up no more than one window's worth", async () => {
  const clock = new ManualClock();
  const limit = rateLimit({ count: 2, perMs: 1000 }, clock);
  await clock.advance(60_000);
  expect([limit(), limit(), limit() > 0]).toEqual([0, 0, true]);
});
