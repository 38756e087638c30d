import { accessSync, constants, existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "..");

// Neither the type checker nor `npm test` loads what only benchmarks and long tests start.
test("programs of tests and benchmarks name built files that exist", () => {
  const files = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" });
  const programs = files.filter((file) => /\.[cm]?[jt]s$/.test(file));
  const named = programs.flatMap((file) => {
    const text = readFileSync(join(root, "test", file), "utf8");
    return [...text.matchAll(/\bdist\/[\w./-]+\.js\b/g)].map(([path]) => ({ file, path }));
  });
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter(({ path }) => !existsSync(join(root, path)))).toEqual([]);
});

test("the built program can be executed, for npx in a checkout that was built again", () => {
  const program = join(root, "dist/program/repute.js");
  expect(() => accessSync(program, constants.X_OK)).not.toThrow();
  expect(readFileSync(program, "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
});
