import { expect, test } from "vitest";
import { malformedAnswer, unavailableAnswer, Faults } from "../../../src/service/faults.js";
import { success } from "../../../src/service/served-answer.js";

const none = { partialRate: 0, unavailableRate: 0, resetRate: 0, malformedRate: 0 };
const some = { partialRate: 0.2, unavailableRate: 0.1, resetRate: 0.1, malformedRate: 0.1 };
const items = Array.from({ length: 400 }, (_, index) => `192.0.2.${index}`);

function kinds(faults: Faults, order: readonly string[]): Record<string, string> {
  return Object.fromEntries(order.map((item) => [item, faults.draw("query", item, true).kind]));
}

test("the same seed draws the same faults in any order of requests", () => {
  const forwards = kinds(new Faults(some, 7), items);
  const backwards = kinds(new Faults(some, 7), items.toReversed());
  expect(backwards).toEqual(forwards);
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

test("a retried item gets its own sequence of faults, which restarts after an answer", () => {
  const faults = new Faults({ ...none, unavailableRate: 0.5 }, 11);
  const sequence = () => {
    const drawn: string[] = [];
    do drawn.push(faults.draw("query", "192.0.2.1", true).kind);
    while (drawn.at(-1) !== "none");
    return drawn;
  };
  const first = sequence();
  expect(sequence()).toEqual(first);
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

test("refuses rates that add up to more than 1", () => {
  const rates = { ...none, partialRate: 0.6, resetRate: 0.5 };
  expect(() => new Faults(rates, 1)).toThrow(/add up to 1\.1; lower them to a sum of at most 1/);
});

test.each([0, 1, 2])("unavailable answer %i has no envelope", (dice) => {
  const { status, body } = unavailableAnswer(dice);
  expect(status).toBe(503);
  expect(body).not.toContain("partial_success");
});

test.each([0, 1, 2, 3, 4])("malformed answer %i has status 200 and is not the answer", (dice) => {
  const answer = success('{"item":"192.0.2.1"}');
  const malformed = malformedAnswer(answer, dice);
  expect(malformed.status).toBe(200);
  expect(malformed.body).not.toBe(answer.body);
});
