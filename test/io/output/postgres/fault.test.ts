import { expect, test } from "vitest";
import { isStarting, isTransient } from "../../../../src/io/output/postgres/fault.js";

test.each([
  // The server is there, so that a run retries from its start.
  ["57P01 57P02 57P03 53300 55P03", true, true],
  // A run retries, but its start reports them.
  ["ECONNREFUSED ENOTFOUND 08006 40P01", false, true],
  ["28P01 42501 42P07", false, false],
])("%s are retried from the start %s, during a run %s", (codes, starting, transient) => {
  for (const code of codes.split(" ")) {
    const fault = Object.assign(new Error("no"), { code });
    expect([code, isStarting(fault), isTransient(fault)]).toEqual([code, starting, transient]);
  }
});
