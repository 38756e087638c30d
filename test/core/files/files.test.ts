import { mkdir, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder, realPath } from "../../../src/core/files/folders.js";
import { jsonFileFault, readJsonFile } from "../../../src/core/files/json-file.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

test.each([
  ["half.json", "it is not valid JSON"],
  [".", "it is a directory"],
])("why a JSON file cannot be read %s: %s", async (name, reason) => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "half.json"), '{"a":');
  const fault = await readJsonFile(join(folder, name)).catch(jsonFileFault);
  expect(fault).toBe(reason);
});

test("creates a folder and its parents, all with the given mode", async () => {
  const folder = await temporaryFolder();
  makeFolder(join(folder, "a", "b", "c"), 0o700);
  for (const path of ["a", "a/b", "a/b/c"]) {
    expect((await stat(join(folder, path))).mode & 0o777).toBe(0o700);
  }
});

test("accepts a link to a folder, but not a file or a dangling link", async () => {
  const folder = await temporaryFolder();
  await symlink(folder, join(folder, "link"));
  makeFolder(join(folder, "link"));
  await writeFile(join(folder, "file"), "");
  await symlink(join(folder, "nothing"), join(folder, "broken"));
  expect(() => makeFolder(join(folder, "file"))).toThrow("EEXIST");
  expect(() => makeFolder(join(folder, "file", "below"))).toThrow("ENOTDIR");
  expect(() => makeFolder(join(folder, "broken", "below"))).toThrow("EEXIST");
});

test("tries once where the system refuses folders", () => {
  expect(() => makeFolder("/proc/self/repute/below")).toThrow("mkdir");
});

test("follows links to files, and to files that do not exist yet", async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "data"));
  await symlink("data", join(folder, "linked"));
  await symlink("../later.csv", join(folder, "data", "out.csv"));
  await symlink("linked/out.csv", join(folder, "twice.csv"));
  await symlink(join(folder, "gone", "out.csv"), join(folder, "gone.csv"));
  const of = (name: string): string => realPath(join(folder, name)).slice(folder.length + 1);
  const names = ["new.csv", "linked/out.csv", "twice.csv", "gone.csv"];
  expect(names.map(of)).toEqual(["new.csv", "later.csv", "later.csv", "gone/out.csv"]);
  await writeFile(join(folder, "later.csv"), "");
  expect(names.map(of)).toEqual(["new.csv", "later.csv", "later.csv", "gone/out.csv"]);
});

test("leaves links in a circle alone", async () => {
  const folder = await temporaryFolder();
  await symlink("two", join(folder, "one"));
  await symlink("one", join(folder, "two"));
  expect(realPath(join(folder, "one"))).toBe(join(folder, "one"));
});
