import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { filePassword } from "../../../../src/outputs/postgres/password-file.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

const wanted = { host: "db.example.com", port: 5432, database: "intel", user: "loader" };

it("returns the first matching line", async () => {
  const file =
    "# *:*:*:*:x\nother.example.com:5432:intel:loader:a\n*:5432:*:loader:b\\:c\n*:*:*:*:d\n";
  expect(await read(file)).toEqual({ found: "b:c", warnings: [] });
});

it("returns undefined if no line matches", async () => {
  const file = "db.example.com:5433:intel:loader:a\n";
  expect(await read(file)).toEqual({ found: undefined, warnings: [] });
});

it("matches a socket folder as localhost", async () => {
  const socket = { ...wanted, host: "/var/run/postgresql" };
  expect(await read("localhost:5432:intel:loader:a\n", socket)).toMatchObject({ found: "a" });
});

it("ignores a file that other users can read, with a warning", async () => {
  expect(await read("*:*:*:*:a\n", wanted, 0o644)).toEqual({
    found: undefined,
    warnings: [expect.stringMatching(/^password file ".+" has group or world access; /) as string],
  });
});

async function read(content: string, login = wanted, mode = 0o600): Promise<unknown> {
  const path = join(await temporaryFolder(), "passwords");
  await writeFile(path, content, { mode });
  vi.stubEnv("PGPASSFILE", path);
  onTestFinished(() => void vi.unstubAllEnvs());
  const warnings: string[] = [];
  const found = await filePassword(login, (text) => warnings.push(text));
  return { found, warnings };
}
