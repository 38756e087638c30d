import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { realPath } from "../../../src/core/files/folders.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

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
