import { expect, test } from "vitest";
import { redactAddress, shownCommand } from "../../../src/cli/redact.js";

test.each([
  ["https://me:secret@intel.example/beta", "https://***@intel.example/beta"],
  ["postgres://me:p@ss@host/db", "postgres://***@host/db"],
  ["https://intel.example/beta?x=a@b", "https://intel.example/beta?x=a@b"],
  ["postgres://me:p/ss@host/db", "postgres://***@host/db"],
  ["https://intel.example:8443/beta?x=a@b", "https://intel.example:8443/beta?x=a@b"],
  ["user@example.com", "user@example.com"],
])("%s", (address, shown) => {
  expect(redactAddress(address)).toBe(shown);
});

test("the command line is kept without credentials", () => {
  expect(shownCommand(["enrich", "a.csv", "--intel-url=https://me:secret@h/beta"])).toEqual([
    "repute",
    "enrich",
    "a.csv",
    "--intel-url=https://***@h/beta",
  ]);
});
