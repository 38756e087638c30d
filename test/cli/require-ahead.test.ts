import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../helpers/temporary-folder.js";

const built = new URL("../../dist/cli/require-ahead.js", import.meta.url).href;

/** Runs a module that lies beside others; returns what it prints, lines of both streams together. */
async function run(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "src"));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  const start = `import { requireAhead } from ${JSON.stringify(built)};\n`;
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(folder, "src", name), name === "start.js" ? start + text : text);
  }
  const program = join(folder, "src", "start.js");
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program]);
  return `${stderr}${stdout}`.trim().split("\n");
}

const isAble = !process.versions.node.startsWith("22.12.");

describe("requireAhead", () => {
  test.runIf(isAble)("loads what is imported later, and all that it imports, once", async () => {
    const printed = await run({
      "start.js": `
        requireAhead(import.meta.url, "./one.js");
        console.log("loaded");
        const { one } = await import("./one.js");
        console.log(one);
      `,
      "one.js": `import { two } from "./two.js"; console.log("one"); export const one = two - 1;`,
      "two.js": `console.log("two"); export const two = 2;`,
    });
    expect(printed).toEqual(["two", "one", "loaded", "1"]);
  });

  test("leaves it to import to tell what is wrong", async () => {
    const printed = await run({
      "start.js": `
        for (const path of ["./absent.js", "./broken.js", "./waits.js"]) {
          requireAhead(import.meta.url, path);
          await import(path).then(() => console.log("loaded"), ({ message }) => console.log(message));
        }
      `,
      "broken.js": `throw new Error("broken");`,
      "waits.js": `await Promise.resolve();`,
    });
    expect(printed).toEqual([
      expect.stringMatching(/^Cannot find module .*absent\.js/) as string,
      "broken",
      "loaded",
    ]);
  });

  test("tells that modules do not fit together", async () => {
    const printed = await run({
      "start.js": `
        try {
          requireAhead(import.meta.url, "./one.js");
          await import("./one.js");
        } catch ({ message }) {
          console.log(message);
        }
      `,
      "one.js": `import { absent } from "./two.js";`,
      "two.js": `export const two = 2;`,
    });
    expect(printed).toEqual([expect.stringContaining("export named 'absent'")]);
  });

  test("the program loads its modules without a word on any stream", async () => {
    const program = fileURLToPath(new URL("../../dist/cli/repute.cjs", import.meta.url));
    const { stderr } = await promisify(execFile)(process.execPath, [program, "plan", "--help"]);
    expect(stderr).toBe("");
  });
});
