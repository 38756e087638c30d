import { once } from "node:events";
import { runToEnd } from "../../src/cli/command-line/command-line.js";
import { systemClock } from "../../src/core/clock.js";
import { fakeContext } from "../cli/fake-context.js";

export interface Serving {
  readonly origin: string;
  /** What it printed when it began to listen. */
  readonly line: string;
  /** Ends it; resolves to its exit code and what it printed on stderr. */
  readonly stop: () => Promise<{ readonly code: number; readonly stderr: string }>;
}

/** `repute serve` in this process, until it is stopped. */
export async function serveHere(
  flags: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Serving> {
  const context = { ...fakeContext(), env, clock: systemClock };
  const { stdout, stderr, controller } = context;
  const line = once(stdout, "written").then(() => stdout.text);
  const ended = runToEnd(["serve", ...flags], context);
  const printed = await Promise.race([line, ended.then((code) => `ended with ${code}`)]);
  const origin = /http:\/\/[\d.]+:\d+/.exec(printed)?.[0];
  if (origin === undefined) throw new Error(`repute serve ${flags.join(" ")}: ${printed}`);
  const stop: Serving["stop"] = async () => {
    controller.abort();
    return { code: await ended, stderr: stderr.text };
  };
  return { origin, line: printed, stop };
}
