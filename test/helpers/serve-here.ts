import { Writable } from "node:stream";
import { runToEnd } from "../../src/cli/command-line/command-line.js";
import { Reporter } from "../../src/cli/terminal/reporter.js";
import { systemClock } from "../../src/core/clock.js";

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
  const controller = new AbortController();
  let said = "";
  const stderr = writing((text) => (said += text));
  let listening: (line: string) => void;
  const line = new Promise<string>((resolve) => (listening = resolve));
  const ended = runToEnd(["serve", ...flags], {
    version: "0.0.0",
    env,
    stdin: () => process.stdin,
    stdout: writing((text) => listening(text)),
    stderr,
    signal: controller.signal,
    clock: systemClock,
    reporter: new Reporter(stderr),
  });
  const printed = await Promise.race([line, ended.then((code) => `ended with ${code}`)]);
  const origin = /http:\/\/[\d.]+:\d+/.exec(printed)?.[0];
  if (origin === undefined) throw new Error(`repute serve ${flags.join(" ")}: ${printed}`);
  const stop: Serving["stop"] = async () => {
    controller.abort();
    return { code: await ended, stderr: said };
  };
  return { origin, line: printed, stop };
}

function writing(take: (text: string) => void): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      take(chunk.toString());
      done();
    },
  });
}
