import { expect, test } from "vitest";
import { Faults } from "../../../src/service/responder.js";
import {
  type RouteAnswer,
  type ServedAnswer,
  success,
} from "../../../src/service/served-answer.js";

const none = { partialRate: 0, unavailableRate: 0, resetRate: 0, malformedRate: 0 };
const some = { partialRate: 0.2, unavailableRate: 0.1, resetRate: 0.1, malformedRate: 0.1 };
const items = Array.from({ length: 400 }, (_, index) => `192.0.2.${index}`);

const full = success('{"item":"192.0.2.1"}');
const answer: RouteAnswer = { full: () => full, partial: () => full };

function faultOf(faults: Faults, item: string): string {
  return faults.answer("query", item, answer).fault;
}

function kinds(faults: Faults, order: readonly string[]): Record<string, string> {
  return Object.fromEntries(order.map((item) => [item, faultOf(faults, item)]));
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
    const kind = faultOf(faults, `item-${index}.example.com`);
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
      kind = faultOf(faults, item);
      if (kind === "malformed") malformed += 1;
    }
    expect(malformed).toBeLessThanOrEqual(1);
  }
});

test("a rate of 1 makes every answer malformed, with status 200, in one of five ways", () => {
  const faults = new Faults({ ...none, malformedRate: 1 }, 1);
  const outcomes = [...items, ...items].map((item) => faults.answer("query", item, answer));
  expect(new Set(outcomes.map(({ fault }) => fault))).toEqual(new Set(["malformed"]));
  const answers = outcomes.map(({ outcome }) => outcome as ServedAnswer);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  const bodies = new Set(answers.map(({ body }) => body));
  expect([bodies.size, bodies.has(full.body)]).toEqual([5, false]);
});

test("refuses rates that add up to more than 1", () => {
  const rates = { ...none, partialRate: 0.6, resetRate: 0.5 };
  expect(() => new Faults(rates, 1)).toThrow(/add up to 1\.1; lower them to a sum of at most 1/);
});
