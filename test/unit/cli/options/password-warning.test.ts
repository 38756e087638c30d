import { expect, test } from "vitest";
import { passwordWarning } from "../../../../src/cli/options/redact.js";
import { runInProcess } from "../run-in-process.js";

test.each([
  [["enrich", "in.csv", "-o", "postgres://me:secret@db.example/intel?table=t"]],
  [["enrich", "-opostgres://me:secret@db.example/intel"]],
  [["enrich", "--output=postgresql://me:secret@db.example/intel"]],
  [["verify", "POSTGRES://:secret@db.example/intel"]],
  [["enrich", "-o", "postgres:///intel?host=/run/postgresql&password=secret"]],
  [["enrich", "-o", "postgres://db.example/intel?sslpassword=secret"]],
])("warns about %j", (args) => {
  const warning = passwordWarning(args);
  expect(warning).toMatch(/\(ps\): set PGPASSWORD, use ~\/\.pgpass, or/);
  expect(warning).not.toContain("secret");
});

test.each([
  [["enrich", "in.csv", "-o", "postgres://me@db.example:5432/intel?table=a@b"]],
  [["enrich", "in.csv", "-o", "postgres://db.example/intel?password="]],
  [["enrich", "in.csv", "-o", "duckdb:me:secret@file?table=t"]],
  [["enrich", "postgres.csv", "-o", "out.csv"]],
])("does not warn about %j", (args) => {
  expect(passwordWarning(args)).toBeNull();
});

const address = "postgres://me:secret@127.0.0.1:1/intel?table=t";

test("warns before connecting to the database, even if that fails", async () => {
  const { stderr } = await runInProcess(["verify", address]);
  expect(stderr).toMatch(
    /^repute: warning: other users can see the PostgreSQL password on the command/,
  );
  expect(stderr).not.toContain("secret");
});

test("does not warn about an address in a variable", async () => {
  const env = { REPUTE_OUTPUT: address };
  const { stderr } = await runInProcess(["enrich", "no-such-file.csv", "--local"], { env });
  expect(stderr).not.toContain("warning");
});
