import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Builds `dist/` before the tests, so that those which spawn the program run what is in `src/`. */
export function setup(): void {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  execFileSync(process.execPath, ["node_modules/typescript/bin/tsc"], {
    cwd: root,
    stdio: "inherit",
  });
}
