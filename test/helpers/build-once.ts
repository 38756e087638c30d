import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const stampFile = join(root, "dist/.sources");

/**
 * Builds `dist/` before the tests, so that tests that spawn the program run what is in `src/`.
 * Skips the build if no source has changed. `npm run check:types` checks the types.
 */
export function setup(): void {
  const stamp = sourceStamp();
  if (stamp === lastStamp()) return;
  run("typescript/bin/tsc", "--noCheck");
  run("rolldown/bin/cli.mjs", "--config", "--log-level", "warn");
  writeFileSync(stampFile, stamp);
}

function run(script: string, ...args: readonly string[]): void {
  const command = [join(root, "node_modules", script), ...args];
  execFileSync(process.execPath, command, { cwd: root, stdio: "inherit" });
}

/** Every file that the build reads, with its size and modification time. */
function sourceStamp(): string {
  const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" });
  const paths = sources.filter((path) => path.endsWith(".ts")).map((path) => join("src", path));
  return ["package-lock.json", "rolldown.config.mjs", "tsconfig.json", ...paths.toSorted()]
    .map((path) => {
      const { size, mtimeMs } = statSync(join(root, path));
      return `${path} ${size} ${mtimeMs}\n`;
    })
    .join("");
}

function lastStamp(): string {
  try {
    return readFileSync(stampFile, "utf8");
  } catch {
    return "";
  }
}
