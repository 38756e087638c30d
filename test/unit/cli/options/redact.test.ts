import { expect, test } from "vitest";
import { shownCommand } from "../../../../src/cli/options/redact.js";
import { redactAddress } from "../../../../src/core/redaction/redact-address.js";

test.each([
  ["https://me:secret@intel.example/beta", "https://***@intel.example/beta"],
  ["postgres://me:p@ss@host/db", "postgres://***@host/db"],
  ["https://intel.example/beta?x=a@b", "https://intel.example/beta?x=a@b"],
  ["postgres://me:p/ss@host/db", "postgres://***@host/db"],
  ["https://intel.example:8443/beta?x=a@b", "https://intel.example:8443/beta?x=a@b"],
  ["user@example.com", "user@example.com"],
  [
    "postgres://h/db?user=me&password=p%20w&table=t",
    "postgres://h/db?user=me&password=***&table=t",
  ],
])("%s", (address, shown) => {
  expect(redactAddress(address)).toBe(shown);
});

test("removes credentials from the command line", () => {
  expect(shownCommand(["enrich", "a.csv", "--intel-url=https://me:secret@h/beta"])).toEqual([
    "repute",
    "enrich",
    "a.csv",
    "--intel-url=https://***@h/beta",
  ]);
});

test.each([
  ['postgres://me:it\'s "p w"@h/db?table=t', "postgres://***@h/db?table=t"],
  ["-opostgres://me:p@w @h/db", "-opostgres://***@h/db"],
  [
    "--output=postgres://h/db?password=p w&table=t",
    "--output=postgres://h/db?password=***&table=t",
  ],
  ["a b@example.com", "a b@example.com"],
])("masks secrets in the address of an argument: %s", (arg, shown) => {
  expect(shownCommand([arg])).toEqual(["repute", shown]);
});
