import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const stampFile = join(root, "dist/.sources");

/**
 * Builds `dist/` before the tests, so that they run what is in `src/`. Skips the build if no source
 * has changed since this or `npm run build`, which starts with an empty folder, made it.
 * `npm run check:types` checks the types.
 */
export function setup(): void {
  const sources = readSources();
  const stamp = sources.map(({ path, size, time }) => `${path} ${size} ${time}\n`).join("");
  const last = lastStamp();
  if (stamp === last) return;
  if (last !== "" || sources.some(({ time }) => time >= builtAt())) {
    run("typescript/bin/tsc", "--noCheck");
    run("rolldown/bin/cli.mjs", "--config", "--log-level", "warn");
  }
  writeFileSync(stampFile, stamp);
}

function run(script: string, ...args: readonly string[]): void {
  const command = [join(root, "node_modules", script), ...args];
  execFileSync(process.execPath, command, { cwd: root, stdio: "inherit" });
}

interface Source {
  readonly path: string;
  readonly size: number;
  /** When it was last changed. */
  readonly time: number;
}

/** Every file that the build reads. */
function readSources(): readonly Source[] {
  const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" });
  const paths = sources.filter((path) => path.endsWith(".ts")).map((path) => join("src", path));
  return ["package-lock.json", "rolldown.config.mjs", "tsconfig.json", ...paths.toSorted()].map(
    (path) => {
      const { size, mtimeMs } = statSync(join(root, path));
      return { path, size, time: mtimeMs };
    },
  );
}

/** When the last step of the build was done; 0 if it was not. */
function builtAt(): number {
  return statSync(join(root, "dist/program/repute.js"), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function lastStamp(): string {
  try {
    return readFileSync(stampFile, "utf8");
  } catch {
    return "";
  }
}
