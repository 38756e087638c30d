import type { AnsweringServer } from "./answering-server.js";
import { runRepute, startRepute, type RunReputeResult } from "./run-repute.js";
import { queriesTo } from "./workspace.js";

/**
 * Maximum number of requests that a killed run repeats, at the rate of these runs: the open ones,
 * those queued for a connection, and those whose answers wait to be stored together.
 */
export const mostRepeated = 32 + 96 + 256;

export interface KilledRun {
  readonly server: AnsweringServer;
  readonly cwd: string;
  /** @default enrich */
  readonly command?: string;
  /** Arguments after the command. */
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Number of requests after which the program is killed, 0 for its start, and the delay from then on;
   * null for never.
   */
  readonly kill: { readonly requests: number; readonly ms: number } | null;
}

/** Runs the main job against a server of its own, and kills the program on the way. */
export async function enrichKilled({
  server,
  cwd,
  args,
  command = "enrich",
  env = {},
  kill,
}: KilledRun): Promise<RunReputeResult> {
  const line = [command, ...args, ...queriesTo(server), "--quiet"];
  if (kill === null) return runRepute(line, { cwd, env });
  const { child, result } = startRepute(line, { cwd, env });
  const last = server.total + kill.requests;
  let timer: NodeJS.Timeout | undefined;
  const killSoon = (): void => {
    timer ??= setTimeout(() => child.kill("SIGKILL"), kill.ms);
  };
  if (kill.requests === 0) killSoon();
  server.onRequest = (total) => {
    if (total < last) return true;
    killSoon();
    return kill.ms > 0;
  };
  const ended = await result;
  clearTimeout(timer);
  server.onRequest = () => true;
  return ended;
}
