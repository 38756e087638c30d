import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readPasswordFile } from "../../../../src/io/output/postgres/database.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

const wanted = { host: "db.example.com", port: 5432, database: "intel", user: "loader" };
const socket = { ...wanted, host: "/var/run/postgresql" };

it.each([
  ["the first matching line", "other:5432:intel:loader:a\n*:5432:*:loader:b\n*:*:*:*:c\n", "b"],
  ["no line that does not match", "db.example.com:5433:intel:loader:a\n", undefined],
  ["escapes, and colons in the password", "*:*:*:*:a\\:b\\\\c:d\n", "a:b\\c:d"],
  ["no comments and invalid lines", "#*:*:*:*:a\n*:*:b\n\r\n*:*:*:*:c\r\n", "c"],
  ["localhost for a socket", "localhost:5432:intel:loader:a\n", "a", socket],
])("takes %s", async (_, content, password, who = wanted) => {
  const home = await temporaryFolder();
  await writeFile(join(home, ".pgpass"), content, { mode: 0o600 });
  expect(await readPasswordFile(who, { HOME: home }, () => undefined)).toBe(password);
});

it("ignores a file that other users can read, with a warning", async () => {
  const path = join(await temporaryFolder(), "passwords");
  await writeFile(path, "*:*:*:*:a\n");
  await chmod(path, 0o644);
  const warnings: string[] = [];
  const environment = { PGPASSFILE: path };
  const found = await readPasswordFile(wanted, environment, (text) => warnings.push(text));
  const warning = `ignored ${path} because other users can read it; run chmod 600 ${path}`;
  expect({ found, warnings }).toEqual({ found: undefined, warnings: [warning] });
});
