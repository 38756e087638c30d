import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readPasswordFile } from "../../../../src/outputs/postgres/login-address.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

const wanted = { host: "db.example.com", port: 5432, database: "intel", user: "loader" };

it("returns the first matching line", async () => {
  const file = "other.example.com:5432:intel:loader:a\n*:5432:*:loader:b\n*:*:*:*:c\n";
  expect(await read(file)).toBe("b");
});

it("returns null if no line matches", async () => {
  expect(await read("db.example.com:5433:intel:loader:a\n")).toBeNull();
});

it("unescapes colons and backslashes and allows colons in the password", async () => {
  expect(await read("*:*:*:*:a\\:b\\\\c:d\n")).toBe("a:b\\c:d");
});

it("skips comments and invalid lines", async () => {
  expect(await read("#*:*:*:*:a\n*:*:b\n\r\n*:*:*:*:c\r\n")).toBe("c");
});

it("matches a socket folder as localhost", async () => {
  const socket = { ...wanted, host: "/var/run/postgresql" };
  expect(await read("localhost:5432:intel:loader:a\n", socket)).toBe("a");
});

it("returns null if there is no file", async () => {
  const environment = { HOME: await temporaryFolder() };
  expect(await readPasswordFile(wanted, environment, () => undefined)).toBeNull();
});

it("ignores a file that other users can read, with a warning", async () => {
  const path = join(await temporaryFolder(), "passwords");
  await writeFile(path, "*:*:*:*:a\n");
  await chmod(path, 0o644);
  const warnings: string[] = [];
  const environment = { PGPASSFILE: path };
  const found = await readPasswordFile(wanted, environment, (text) => warnings.push(text));
  expect({ found, warnings }).toEqual({
    found: null,
    warnings: [`ignored ${path} because other users can read it; run chmod 600 ${path}`],
  });
});

async function read(content: string, who = wanted): Promise<string | null> {
  const home = await temporaryFolder();
  await writeFile(join(home, ".pgpass"), content, { mode: 0o600 });
  return readPasswordFile(who, { HOME: home }, () => undefined);
}
