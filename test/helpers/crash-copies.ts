import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ended, program } from "./shell.js";

export const preload = fileURLToPath(new URL("crash-preload.cjs", import.meta.url));

/**
 * Runs the program in a folder, and copies the folder before each operation that changes a file: what
 * a kill there would have left, in the order of the operations.
 */
export async function runCopied(args: readonly string[], folder: string) {
  const copies = `${folder}-copies`;
  await mkdir(copies);
  const env = { ...process.env, CRASH_COPIES: copies, REPUTE_BOGONS: "ask" };
  const command = ["--require", preload, program, ...args];
  const { code } = await ended(process.execPath, command, { cwd: folder, env });
  const moments = (await readFile(join(copies, "moments"), "utf8")).trim().split("\n");
  return { code, copies: moments.map((_, index) => join(copies, String(index + 1))) };
}
