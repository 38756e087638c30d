import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { installCommand, loadDriver } from "../../src/core/load-driver.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";

const needed = "this needs the package a-driver";

it.each([
  ["ERR_MODULE_NOT_FOUND", "driver_missing", needed, "install"],
  ["MODULE_NOT_FOUND", "driver_missing", needed, "install"],
  [undefined, "driver_unusable", expect.stringContaining("GLIBC_2.99 not found"), "reinstall"],
])("says how to mend a package that cannot be loaded (%s)", async (cause, code, message, what) => {
  const fault = Object.assign(new Error("GLIBC_2.99 not found"), { code: cause });
  const hint = `${what} it with: ${installCommand("a-driver")}`;
  const loading = loadDriver("a-driver", () => Promise.reject(fault));
  await expect(loading).rejects.toMatchObject({ code, message, hint });
});

const ownPrefix = dirname(dirname(process.execPath));

it.each([
  ["a checkout", "/src/repute", "npm install pg --include=dev --prefix /src/repute"],
  ["a project", "/cwd/node_modules/repute", "npm install pg"],
  ["another project", "/my app/node_modules/repute", "npm install pg --prefix '/my app'"],
  ["a dependency's dependency", "/cwd/node_modules/tool/node_modules/repute", "npm install pg"],
  ["npx", "/me/.npm/_npx/1f/node_modules/repute", "npm install pg --prefix /me/.npm/_npx/1f"],
  ["this Node.js, globally", join(ownPrefix, "lib/node_modules/repute"), "npm install -g pg"],
  ["another global folder", "/me/lib/node_modules/repute", "npm install -g pg --prefix /me"],
])("shows the command for %s", (_, root, command) => {
  expect(installCommand("pg", "/cwd", root)).toBe(command);
});

it("shows how to unpack the archive of drivers into an unpacked archive", async () => {
  const root = join(await temporaryFolder(), "my repute");
  await mkdir(root);
  const driversArchive = "repute-drivers-1.2.3-linux-x64.tar.gz";
  await writeFile(join(root, "package.json"), JSON.stringify({ driversArchive }));
  expect(installCommand("pg", "/cwd", root)).toBe(
    `tar -xzf ${driversArchive} --strip-components=1 -C '${root}'`,
  );
});

it("takes a folder named lib with a package.json for a project", async () => {
  const lib = join(await temporaryFolder(), "lib");
  await mkdir(lib);
  await writeFile(join(lib, "package.json"), "{}");
  const root = join(lib, "node_modules", "repute");
  expect(installCommand("pg", lib, root)).toBe("npm install pg");
});
