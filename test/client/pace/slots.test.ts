import { setImmediate as settle } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { Slots } from "../../../src/client/pace/slots.js";
import { complete, held, item, unaborted } from "../lookup/findings.js";

test("opens no more attempts than allowed", async () => {
  const next = held();
  const lookup = new Slots(2).limit(next);
  for (let i = 0; i < 5; i++) void lookup(item, unaborted());
  await settle();
  expect(next.open).toHaveLength(2);
});

test("opens eight attempts at first, and one more for each that ends", async () => {
  const next = held();
  const lookup = new Slots(12).limit(next);
  for (let i = 0; i < 30; i++) void lookup(item, unaborted());
  await settle();
  expect(next.open).toHaveLength(8);
  next.open[0]?.answer(complete());
  await settle();
  expect(next.open).toHaveLength(1 + 9);
  for (const open of next.open.slice(1, 8)) open.answer(complete());
  await settle();
  expect(next.open).toHaveLength(8 + 12);
});

test("never starts an aborted attempt", async () => {
  const next = held();
  const lookup = new Slots(1).limit(next);
  const controller = new AbortController();
  const first = lookup(item, unaborted());
  lookup(item, { signal: controller.signal }).catch(() => undefined);
  await settle();
  controller.abort();
  next.open[0]?.answer(complete());
  await first;
  await settle();
  expect(next.open).toHaveLength(1);
});

test("is crowded from enough waiting attempts until half of them wait", async () => {
  const next = held();
  const slots = new Slots(1);
  const onRoom = vi.fn<() => void>();
  slots.onRoom(onRoom);
  const lookup = slots.limit(next);
  const crowded: boolean[] = [];
  for (let i = 0; i < 18; i++) {
    void lookup(item, unaborted());
    // The first one gets its slot.
    if (i === 0) await settle();
    crowded.push(slots.crowded);
  }
  expect(crowded.indexOf(true)).toBe(16);
  await settle();
  for (let n = 0; n < 10; n++) {
    next.open[n]?.answer(complete());
    await settle();
    crowded.push(slots.crowded);
  }
  expect(crowded.lastIndexOf(true)).toBe(18 + 7);
  expect(onRoom).toHaveBeenCalledOnce();
});
