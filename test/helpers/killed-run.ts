import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { AnsweringServer } from "./answering-server.js";

const program = fileURLToPath(new URL("../../dist/program/repute.js", import.meta.url));

/** Open requests in a run of `enrichUntilKilled`. */
const concurrency = 32;

/**
 * Maximum number of requests that a killed run repeats, at the rate of these runs: the open ones,
 * those queued for a connection, and those whose answers wait to be stored together.
 */
export const mostRepeated = concurrency + 96 + 256;

/**
 * Runs the program and kills it after `killAfter` requests. Resolves to its exit code, or null if
 * killed.
 */
export async function enrichUntilKilled(
  server: AnsweringServer,
  input: string,
  output: string,
  flags: readonly string[],
  killAfter: number | null = null,
): Promise<number | null> {
  const child = spawn(
    process.execPath,
    [
      program,
      "enrich",
      input,
      "-o",
      output,
      "--intel-url",
      server.url,
      "--lookups",
      "query",
      "--rate",
      "1000000/s",
      "--concurrency",
      String(concurrency),
      ...flags,
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  const last = server.total + (killAfter ?? Number.POSITIVE_INFINITY);
  server.onRequest = (total) => {
    if (total >= last) child.kill("SIGKILL");
    return total < last;
  };
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  if (code !== 0 && code !== null && flags.length > 0) throw new Error(said);
  return code;
}
