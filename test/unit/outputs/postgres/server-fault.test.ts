import { expect, test } from "vitest";
import { isStarting, isTransient } from "../../../../src/outputs/postgres/server-fault.js";

const fault = (code: string): Error => Object.assign(new Error("no"), { code });

test.each(["57P01", "57P02", "57P03", "53300", "55P03"])(
  "a server that says %s is there, and is asked again from the start on",
  (code) => {
    expect(isStarting(fault(code))).toBe(true);
    expect(isTransient(fault(code))).toBe(true);
  },
);

test.each(["ECONNREFUSED", "ENOTFOUND", "08006"])(
  "%s passes in the middle of a run, but is told of at its start",
  (code) => {
    expect(isStarting(fault(code))).toBe(false);
    expect(isTransient(fault(code))).toBe(true);
  },
);

test.each(["28P01", "42501", "42P07", ""])("%o does not pass by itself", (code) => {
  expect(isStarting(fault(code))).toBe(false);
  expect(isTransient(fault(code))).toBe(false);
});
