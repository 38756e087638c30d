import { spawn } from "node:child_process";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { program } from "./shell.js";

const preload = fileURLToPath(new URL("crash-preload.cjs", import.meta.url));

/** A run of the program with what a kill at each operation that changes a file would have left. */
export interface CopiedRun {
  readonly code: number | null;
  /** Copies of the folder, in the order of the operations. */
  readonly copies: readonly string[];
}

/** Runs the program in a folder, and copies the folder before each operation that changes a file. */
export async function runCopied(args: readonly string[], folder: string): Promise<CopiedRun> {
  const copies = `${folder}-copies`;
  await mkdir(copies);
  const child = spawn(process.execPath, ["--require", preload, program, ...args], {
    cwd: folder,
    env: { ...process.env, CRASH_COPIES: copies, REPUTE_BOGONS: "ask" },
    stdio: "inherit",
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  const moments = (await readFile(join(copies, "moments"), "utf8")).trim().split("\n");
  return { code, copies: moments.map((_, index) => join(copies, String(index + 1))) };
}
