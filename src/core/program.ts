import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * Absolute path of a file or folder in the package. This module is two folders below the package root
 * in src, in dist and in the bundle.
 */
export function packagePath(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}

export function programInfo() {
  const text = readFileSync(packagePath("package.json"), "utf8");
  const { name, version } = JSON.parse(text) as Readonly<Record<"name" | "version", string>>;
  return { name, version };
}
