import { stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../../../src/core/files/folders.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

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
