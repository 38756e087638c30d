import { systemClock } from "../../core/clock.js";
import { programInfo } from "../../core/program.js";
import { Reporter } from "../terminal/reporter.js";
import { exitCodeOfError } from "../exit-code.js";
import { abortOnBrokenOutput, abortOnSignals } from "./process-events.js";
import { printError, runToEnd } from "./run-to-end.js";
import { safeOnTerminal } from "../terminal/terminal-output.js";

/** How the process exits. */
export interface Ending {
  readonly code: number;
  /** Steps to run right before the process exits, in this order. */
  readonly lastSteps: readonly (() => void)[];
}

/** Runs the command line of this process, prints errors, and returns how to exit. */
export async function runCommandLine(args: readonly string[]): Promise<Ending> {
  const reporter = new Reporter(process.stderr);
  const debug = !["", "0"].includes(process.env["REPUTE_DEBUG"] ?? "");
  let endNow = (_code: number, _error: unknown): void => undefined;
  process.on("uncaughtException", (error) => {
    const code = exitCodeOfError(error);
    printError(error, args, { reporter }, debug);
    endNow(code, error);
    process.exit(code);
  });

  const controller = new AbortController();
  abortOnSignals(controller, process, systemClock, (code, error) => endNow(code, error));
  process.on("SIGUSR1", () => reporter.printStatus()); // like dd
  const stdout = abortOnBrokenOutput(controller, process.stdout);
  process.stderr.on("error", () => undefined); // nobody is left to read it

  let stdin: NodeJS.ReadStream | null = null;
  const lastSteps: (() => void)[] = [];
  const context = {
    version: programInfo().version,
    env: process.env,
    stdin: () => (stdin ??= process.stdin),
    stdout: safeOnTerminal(process.stdout),
    stderr: safeOnTerminal(process.stderr),
    signal: controller.signal,
    clock: systemClock,
    reporter,
    beforeExit: (step: () => void) => void lastSteps.push(step),
  };
  try {
    const code = await runToEnd(args, context, {
      debug,
      stdoutFault: () => stdout.fault(),
      onWatch: (end) => (endNow = end),
    });
    return { code, lastSteps };
  } finally {
    (stdin as NodeJS.ReadStream | null)?.destroy();
  }
}
