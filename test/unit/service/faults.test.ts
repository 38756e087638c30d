import { expect, test } from "vitest";
import { Faults, malformedAnswer } from "../../../src/service/faults.js";
import { success } from "../../../src/service/served-answer.js";

const none = { partialRate: 0, unavailableRate: 0, resetRate: 0, malformedRate: 0 };
const some = { partialRate: 0.2, unavailableRate: 0.1, resetRate: 0.1, malformedRate: 0.1 };
const items = Array.from({ length: 400 }, (_, index) => `192.0.2.${index}`);

function kinds(faults: Faults, order: readonly string[]): Record<string, string> {
  return Object.fromEntries(order.map((item) => [item, faults.draw("query", item, true).kind]));
}

test("the same seed draws the same faults in any order of requests, another one others", () => {
  const forwards = kinds(new Faults(some, 7), items);
  const backwards = kinds(new Faults(some, 7), items.toReversed());
  expect(backwards).toEqual(forwards);
  expect(kinds(new Faults(some, 8), items)).not.toEqual(forwards);
});

test("each fault occurs about as often as its rate", () => {
  const faults = new Faults(some, 3);
  const counts: Record<string, number> = {};
  for (let index = 0; index < 20_000; index += 1) {
    const { kind } = faults.draw("query", `item-${index}.example.com`, true);
    counts[kind] = (counts[kind] ?? 0) + 1 / 20_000;
  }
  expect(counts["partial"]).toBeCloseTo(0.2, 1);
  expect(counts["unavailable"]).toBeCloseTo(0.1, 1);
  expect(counts["reset"]).toBeCloseTo(0.1, 1);
  expect(counts["malformed"]).toBeCloseTo(0.1, 1);
});

test("no item is malformed a second time before it was answered", () => {
  const faults = new Faults({ ...none, malformedRate: 0.6, resetRate: 0.3 }, 5);
  for (const item of items) {
    let malformed = 0;
    for (let kind = ""; kind !== "none";) {
      ({ kind } = faults.draw("query", item, true));
      if (kind === "malformed") malformed += 1;
    }
    expect(malformed).toBeLessThanOrEqual(1);
  }
});

test("a rate of 1 makes every answer malformed", () => {
  const faults = new Faults({ ...none, malformedRate: 1 }, 1);
  const drawn = items.slice(0, 5).flatMap((item) => [item, item, item]);
  const all = drawn.map((item) => faults.draw("query", item, true).kind);
  expect(new Set(all)).toEqual(new Set(["malformed"]));
});

test("refuses rates that add up to more than 1", () => {
  const rates = { ...none, partialRate: 0.6, resetRate: 0.5 };
  expect(() => new Faults(rates, 1)).toThrow(/add up to 1\.1; lower them to a sum of at most 1/);
});

test.each([0, 1, 2, 3, 4])("malformed answer %i has status 200 and is not the answer", (dice) => {
  const answer = success('{"item":"192.0.2.1"}');
  const malformed = malformedAnswer(answer, dice);
  expect(malformed.status).toBe(200);
  expect(malformed.body).not.toBe(answer.body);
});
