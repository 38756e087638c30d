import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { program } from "../helpers/shell.js";
import { workspace } from "../helpers/workspace.js";

const script = "/usr/bin/script";

const hostile = "ip,note\n192.0.2.1,\u001B]0;owned\u0007\u202Ecod.exe\n";

const withInput = () => workspace({ "in.csv": hostile });

// `script` (util-linux) gives the program a terminal.
describe.skipIf(process.platform !== "linux" || !existsSync(script))("on a terminal", () => {
  test("escapes control sequences in rows", async () => {
    const { cwd } = await withInput();
    const command = `${process.execPath} ${program} enrich in.csv --local --quiet`;
    const { stdout } = await promisify(execFile)(script, ["-qec", command, "/dev/null"], { cwd });
    expect(stdout).toContain("\n192.0.2.1,<U+001B>]0;owned<U+0007><U+202E>cod.exe,192.0.2.1,");
    expect(stdout).not.toMatch(/[\u001B\u0007\u202E]/);
  });
});

test("writes rows verbatim to a pipe", async () => {
  const { run } = await withInput();
  const { stdout } = await run("enrich", "in.csv", "--local", "--quiet");
  expect(stdout).toContain("\n192.0.2.1,\u001B]0;owned\u0007\u202Ecod.exe,192.0.2.1,");
});
