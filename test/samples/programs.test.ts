import { execFile } from "node:child_process";
import { cp, symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryFolder } from "../helpers/temporary-folder.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

test("library.mjs looks up items with the package as a library", async () => {
  const { stdout, stderr } = await run(process.execPath, [join(root, "samples", "library.mjs")]);
  expect(stderr).toBe("");
  expect(stdout.trimEnd().split("\n")).toEqual([
    expect.stringMatching(/^ip 192\.0\.2\.1: complete, malicious$/),
    expect.stringMatching(/^url https:\/\/example\.com\/: complete, no intent$/),
    expect.stringMatching(/^setup\.exe: .*file/),
    expect.stringMatching(/^ip 203\.0\.113\.51: partial, without .+$/),
  ]);
});

test("demo.mjs runs the main job on the samples", async () => {
  // In a copy, since it writes beside itself.
  const copy = await temporaryFolder();
  for (const name of ["samples", "dist", "package.json"]) {
    await cp(join(root, name), join(copy, name), { recursive: true });
  }
  await symlink(join(root, "node_modules"), join(copy, "node_modules"));
  const { stdout, stderr } = await run(process.execPath, ["samples/demo.mjs"], { cwd: copy });
  expect(stdout.match(/^\$ repute enrich /gm)).toHaveLength(2);
  expect(stdout).toContain("  seen,indicator,note,rep_item,rep_kind,rep_status,rep_verdict");
  expect(stderr).toMatch(/24 rows/);
  expect(stderr).toMatch(/6 rows/);
});
