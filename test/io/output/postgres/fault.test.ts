import { expect, test } from "vitest";
import { isStarting, isTransient } from "../../../../src/io/output/postgres/fault.js";

const fault = (code: string): Error => Object.assign(new Error("no"), { code });

test.each(["57P01", "57P02", "57P03", "53300", "55P03"])(
  "%s is retried from the start, because the server is there",
  (code) => {
    expect(isStarting(fault(code))).toBe(true);
    expect(isTransient(fault(code))).toBe(true);
  },
);

test.each(["ECONNREFUSED", "ENOTFOUND", "08006"])(
  "%s is retried during a run but reported at its start",
  (code) => {
    expect(isStarting(fault(code))).toBe(false);
    expect(isTransient(fault(code))).toBe(true);
  },
);

test.each(["28P01", "42501", "42P07", ""])("%o is not transient", (code) => {
  expect(isStarting(fault(code))).toBe(false);
  expect(isTransient(fault(code))).toBe(false);
});
