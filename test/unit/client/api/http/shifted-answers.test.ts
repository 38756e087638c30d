import { expect, test } from "vitest";
import { ShiftedAnswers } from "../../../../../src/client/api/http/transport.js";
import { success } from "../answers.js";

function looksShifted(path: string, body: unknown, status = 200, answers = new ShiftedAnswers()) {
  return answers.has(path, { status, body: Buffer.from(JSON.stringify(body)) });
}

test.each([
  ["/query/192.0.2.1", "192.0.2.2"],
  ["/query/192.0.2.1", "192.0.2.10"],
  ["/quick-check/2001%3Adb8%3A%3A1", "2001:db8::2"],
  ["/query/example.com", "example.org"],
])("an answer to %s that names %s is shifted", (path, item) => {
  expect(looksShifted(path, success({ item }))).toBe(true);
  expect(looksShifted(path, success({ item }), 503)).toBe(true);
});

test.each([
  ["/query/192.0.2.1", success({ item: "192.0.2.1" })],
  ["/query/2001%3Adb8%3A%3A1", success({ item: "2001:DB8:0::1" })],
  ["/query/http%3A%2F%2Fexample.com%2F", success({ item: "http://EXAMPLE.com" })],
  ["/query/192.0.2.1", success({})],
  ["/query/192.0.2.1", "no envelope"],
  ["/query/%E0%A4%A", success({ item: "%E0%A4%A" })],
  ["/tags/a%3Ab", success({ item: "192.0.2.1" })],
  ["/tags/a%3Ab/ips?limit=1", success({ item: "192.0.2.1" })],
])("an answer to %s like %j is not", (path, body) => {
  expect(looksShifted(path, body)).toBe(false);
});

test("an answer with another status is inconclusive", () => {
  expect(looksShifted("/query/192.0.2.1", success({ item: "192.0.2.2" }), 400)).toBe(false);
});

test("keeps nearly all connections of a service with its own spelling of domains", () => {
  const answers = new ShiftedAnswers();
  const shifted = Array.from({ length: 1_000 }, (_, n) =>
    looksShifted(`/query/d${n}.example.com`, success({ item: `D${n}` }), 200, answers),
  ).filter(Boolean);
  expect(shifted.length).toBeGreaterThan(0);
  expect(shifted.length).toBeLessThanOrEqual(18);
});
