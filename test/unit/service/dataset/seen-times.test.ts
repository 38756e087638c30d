import { expect, test } from "vitest";
import { datasetOf } from "../../../helpers/dataset-of.js";

interface Times {
  readonly firstSeen?: string | null;
  readonly lastSeen?: string | null;
}

/**
 * Loads a dataset of one domain with times for the result, its honeypot interactions and one
 * observation.
 */
function load(result: Times, interactions: Times = {}, observation: Times | null = null) {
  const unknown = { firstSeen: null, lastSeen: null };
  const observations = observation === null ? [] : [{ service: "ssh", type: "x", ...observation }];
  const honeypotInteractions = { ...unknown, ...interactions, observations };
  const spamtrapInteractions = { ...unknown, observations: [] };
  return datasetOf({
    items: [
      {
        result: {
          item: "example.com",
          serviceMailBlocklist: null,
          type: "DOMAIN",
          tags: [],
          ...unknown,
          ...result,
          intent: null,
          observedActivity: { honeypotInteractions, spamtrapInteractions },
        },
      },
    ],
  });
}

const [day1, day2, day3, day4] = [1, 2, 3, 4].map((day) => `2024-01-0${day}T00:00:00Z`) as [
  string,
  string,
  string,
  string,
];
const year = { firstSeen: "2024-01-01T00:00:00Z", lastSeen: "2024-12-31T00:00:00Z" };

test("accepts times within each other, ends included", () => {
  const span = { firstSeen: day1, lastSeen: day4 };
  expect(() => load(span, span, span)).not.toThrow();
});

test("accepts unknown times", () => {
  expect(() => load({}, { firstSeen: day2 }, { firstSeen: day2, lastSeen: day3 })).not.toThrow();
});

test("compares moments, not texts", () => {
  const late = { firstSeen: "2024-01-02T00:30:00+01:00", lastSeen: "2024-01-01T23:45:00Z" };
  expect(() => load(late)).not.toThrow();
});

test.each<[string, Parameters<typeof load>, string]>([
  [
    "a result last seen before it was first seen",
    [{ firstSeen: day2, lastSeen: day1 }],
    `items[0]: result: firstSeen ${day2} is after lastSeen ${day1}`,
  ],
  [
    "an observation that ends before it begins",
    [year, year, { firstSeen: day3, lastSeen: day2 }],
    `items[0]: result.observedActivity.honeypotInteractions.observations.0: firstSeen ${day3} is after lastSeen ${day2}`,
  ],
  [
    "an observation before the first interaction",
    [year, { firstSeen: day2, lastSeen: day4 }, { firstSeen: day1, lastSeen: day3 }],
    `firstSeen ${day1} is before firstSeen of result.observedActivity.honeypotInteractions, ${day2}`,
  ],
  [
    "an observation after the last interaction",
    [year, { firstSeen: day1, lastSeen: day3 }, { firstSeen: day1, lastSeen: day4 }],
    `lastSeen ${day4} is after lastSeen of result.observedActivity.honeypotInteractions, ${day3}`,
  ],
  [
    "an interaction after the result was last seen",
    [
      { firstSeen: day1, lastSeen: day2 },
      { firstSeen: day1, lastSeen: day3 },
    ],
    `honeypotInteractions: lastSeen ${day3} is after lastSeen of result, ${day2}`,
  ],
])("refuses %s", (_, times, message) => {
  expect(() => load(...times)).toThrow(message);
});

test("refuses a case whose first event is after its last", () => {
  const entry = { id: "case-1", state: "NEW", first_event_date: day2, last_event_date: day1 };
  expect(() => datasetOf({ cases: [entry] })).toThrow(
    `cases[0]: first_event_date ${day2} is after last_event_date ${day1}`,
  );
});
