import { execFile } from "node:child_process";
import { chmod, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { startRepute } from "../helpers/run-repute.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

/** The README's blocks of commands that say that they run against `repute serve`. */
async function blocks(): Promise<readonly string[]> {
  const readme = await readFile(join(root, "README.md"), "utf8");
  const marked = /<!-- runs against repute serve -->\s*```sh\n([^]*?)```/g;
  return [...readme.matchAll(marked)].map(([, block = ""]) => block);
}

/** A folder as a user has it: the samples, and `repute` on the path. */
async function workingFolder() {
  const folder = await temporaryFolder();
  const bin = join(folder, "bin");
  await mkdir(bin);
  const program = join(root, "dist", "cli", "main.js");
  await writeFile(join(bin, "repute"), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  await chmod(join(bin, "repute"), 0o755);
  await symlink(join(root, "samples"), join(folder, "samples"));
  const clean = Object.entries(process.env).filter(([name]) => !name.startsWith("REPUTE_"));
  const env = { ...Object.fromEntries(clean), PATH: `${bin}${delimiter}${process.env["PATH"]}` };
  return { cwd: folder, env };
}

test(
  "every command of the README that asks a service runs against repute serve as typed",
  { timeout: 180_000 },
  async () => {
    const found = await blocks();
    const serve = startRepute(["serve", "--json"]);
    const [line] = await serve.waitFor("stdout", /^.*\n/);
    const { ops_url: url } = JSON.parse(line) as { ops_url: string };
    const folder = await workingFolder();
    const failures: string[] = [];
    let commands = 0;
    for (const block of found) {
      const settings: string[] = [];
      // The one thing that differs from what is typed: the port is a free one.
      const lines = block.replaceAll("http://127.0.0.1:8080", url).split("\n");
      for (const command of lines.filter((text) => /^\s*[^\s#]/.test(text))) {
        if (command.startsWith("export ")) {
          settings.push(command);
          continue;
        }
        commands++;
        const script = ["set -e", ...settings, command].join("\n");
        const failure = await run("sh", ["-c", script], folder).then(
          () => null,
          (error: unknown) => `${command}\n${String((error as { stderr?: string }).stderr)}`,
        );
        if (failure !== null) failures.push(failure);
      }
    }
    expect([found.length > 0, commands > 0, failures]).toEqual([true, true, []]);
  },
);
