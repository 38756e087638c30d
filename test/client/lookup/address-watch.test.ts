import { expect, it } from "vitest";
import { AddressWatch } from "../../../src/client/lookup/address-watch.js";

const address = "https://intel.example";

function noted(watch: AddressWatch, endpoint: "query" | "quick-check", statuses: number[]): void {
  for (const httpStatus of statuses) watch.note({ endpoint, httpStatus });
}

const notFound = (times: number): number[] => Array.from({ length: times }, () => 404);

it("judges an address that answers only 404 per endpoint", () => {
  const watch = new AddressWatch(address);
  noted(watch, "query", [200, ...notFound(100)]);
  expect(() => noted(watch, "quick-check", notFound(20))).toThrow(/of quick-check at/);
  expect(watch.found).toBe(true);
});

it("warns after fewer answers", () => {
  const watch = new AddressWatch(address);
  noted(watch, "query", notFound(12));
  noted(watch, "quick-check", [404]);
  expect(watch.warnings()).toEqual([
    "all 12 answers of query at https://intel.example were 404 Not Found: does the address end in /beta?",
    "the only answer of quick-check at https://intel.example was 404 Not Found: does the address end in /beta?",
  ]);
});

it.each([200, 400, 429, 500, 503])(
  "an address that gave another answer is right after a %i among the first",
  (status) => {
    const watch = new AddressWatch(address);
    noted(watch, "query", [...notFound(19), status, ...notFound(100)]);
    expect(watch.warnings()).toEqual([]);
  },
);

it("counts answers from before an interruption", () => {
  const before = { query: { outcomes: { "404": 15, connection_reset: 2 } } };
  const watch = new AddressWatch(address, before);
  noted(watch, "query", notFound(4));
  expect(() => noted(watch, "query", [404])).toThrow(/the first 20 answers/);
});
