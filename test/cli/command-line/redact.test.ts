import { expect, test } from "vitest";
import { passwordWarning, shownCommand } from "../../../src/cli/command-line/command-line.js";
import { runInProcess } from "../run-in-process.js";
import { redactAddress } from "../../../src/core/redaction.js";

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

test.each([
  ['postgres://me:it\'s "p w"@h/db?table=t', "postgres://***@h/db?table=t"],
  ["-opostgres://me:p@w @h/db", "-opostgres://***@h/db"],
  [
    "--output=postgres://h/db?password=p w&table=t",
    "--output=postgres://h/db?password=***&table=t",
  ],
  ["a b@example.com", "a b@example.com"],
  ["--api-key=k-1=2", "--api-key=***"],
  ["--api-key-file=key", "--api-key-file=key"],
  ["--key=a,b", "--key=a,b"],
])("masks secrets in an argument: %s", (arg, shown) => {
  expect(shownCommand([arg])).toEqual(["repute", shown]);
});

test.each(["--api-key", "--token", "--REPUTE_ACCESS_TOKEN"])(
  "masks what is given to a flag that %s would be",
  (flag) => {
    const shown = ["repute", "enrich", flag, "***", "-q"];
    expect(shownCommand(["enrich", flag, "k-1", "-q"])).toEqual(shown);
  },
);

test.each([
  "enrich in.csv -o postgres://me:secret@db.example/intel?table=t",
  "enrich -opostgres://me:secret@db.example/intel",
  "enrich --output=postgresql://me:secret@db.example/intel",
  "verify POSTGRES://:secret@db.example/intel",
  "enrich -o postgres:///intel?host=/run/postgresql&password=secret",
  "enrich -o postgres://db.example/intel?sslpassword=secret",
])("warns about %s", (line) => {
  const warning = /\(ps\): set PGPASSWORD or REDISCLI_AUTH, use/;
  expect(passwordWarning(line.split(" "))).toMatch(warning);
});

test.each([
  "enrich in.csv -o postgres://me@db.example:5432/intel?table=a@b",
  "enrich in.csv -o postgres://db.example/intel?password=",
  "enrich in.csv -o duckdb:me:secret@file?table=t",
  "enrich postgres.csv -o out.csv",
])("does not warn about %s", (line) => {
  expect(passwordWarning(line.split(" "))).toBeNull();
});

test("warns before connecting to the database, even if that fails", async () => {
  const address = "postgres://me:secret@127.0.0.1:1/intel?table=t";
  const { stderr } = await runInProcess(["verify", address]);
  expect(stderr).toMatch(/^repute: warning: other users can see the password on the command/);
  expect(stderr).not.toContain("secret");
});
