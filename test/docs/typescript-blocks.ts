import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type CodeBlock, root } from "./pages.js";

const run = promisify(execFile);

/** Within the package, so that `repute` is the package itself. */
const place = join(root, ".out", "docs-blocks");

/**
 * Checks programs against the types of the package, all at once, and runs each in a folder against the
 * built package.
 *
 * @returns what was wrong; empty when nothing was
 */
export async function runTypeScript(
  programs: readonly CodeBlock[],
  { folder, intelUrl }: Readonly<Record<"folder" | "intelUrl", string>>,
): Promise<readonly string[]> {
  await rm(place, { recursive: true, force: true });
  await mkdir(place, { recursive: true });
  if (programs.length === 0) return ["there is no program"];
  const named = programs.map((block) => ({ block, name: nameOf(block) }));
  for (const { block, name } of named) {
    // With `export {}` a program without imports is a module, in which `await` may stand.
    const text = `${block.text}export {};\n`;
    await writeFile(join(place, `${name}.m${block.language}`), text);
  }
  await writeFile(join(place, "tsconfig.json"), JSON.stringify(config));
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  const faults = await run(process.execPath, [compiler, "-p", place], { cwd: root }).then(
    () => null,
    (error: unknown) => (error as { stdout: string }).stdout,
  );
  if (faults !== null) return [faults];
  await writeFile(join(place, "run.mjs"), runner(named.map(({ name }) => name)));
  const env = { ...process.env, REPUTE_INTEL_URL: intelUrl };
  const { stdout, stderr } = await run(process.execPath, [join(place, "run.mjs")], {
    cwd: folder,
    env,
  });
  const ended = stdout.split("\n").filter((line) => line.startsWith(endMark));
  return ended.length === named.length && stderr === "" ? [] : [stderr, stdout];
}

const endMark = "-- ended: ";

/** One process runs all programs in turn, since loading the package takes longest. */
function runner(names: readonly string[]): string {
  const lines = names.map((name) => {
    const path = `./out/.out/docs-blocks/${name}.mjs`;
    return `await import("${path}"); console.log("${endMark}${name}");\n`;
  });
  return lines.join("");
}

function nameOf({ page, line }: CodeBlock): string {
  return `${page.replace(/\.md$/, "").replaceAll("/", "-")}-${line}`;
}

const config = {
  extends: "../../tsconfig.json",
  compilerOptions: {
    rootDir: "../..",
    outDir: "out",
    declaration: false,
    allowJs: true,
    checkJs: true,
    noPropertyAccessFromIndexSignature: false,
    paths: { repute: ["../../dist/index.d.ts"] },
  },
  include: ["docs-*.mts", "docs-*.mjs", "README-*.mts", "README-*.mjs"],
};
