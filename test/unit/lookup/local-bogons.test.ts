import { expect, test } from "vitest";
import { localBogons } from "../../../src/lookup/combine.js";
import { complete, otherItem, scripted, unaborted } from "./findings.js";

test("answers an address in a reserved range without a request", async () => {
  const next = scripted(complete());
  const finding = await localBogons(next)({ kind: "ip", value: "10.0.0.1" }, unaborted());
  expect(next.asked).toHaveLength(0);
  expect(finding).toMatchObject({
    status: "complete",
    answers: { query: { result: { item: "10.0.0.1", type: "IP_BOGON", bogon: true } } },
    source: "local",
    attempts: 0,
  });
});

test("looks anything else up", async () => {
  const next = scripted(complete());
  const lookup = localBogons(next);
  await lookup({ kind: "ip", value: "8.8.8.8" }, unaborted());
  await lookup(otherItem, unaborted());
  expect(next.asked).toHaveLength(2);
});
