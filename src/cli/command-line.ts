import { systemClock } from "../core/clock.js";
import { programInfo } from "../core/program.js";
import { commandNamed } from "./command-list.js";
import { errorText, Reporter } from "./terminal/reporter.js";
import { exitCodeOfError } from "./exit-code.js";
import {
  abortOnBrokenOutput,
  abortOnSignals,
  isBrokenPipe,
  runProgram,
  printOnSignal,
} from "./program.js";
import { safeOnTerminal } from "./terminal/terminal-output.js";

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
  const command = commandNamed(args);
  const fail = (error: unknown): number => {
    reporter.clear();
    if (!isBrokenPipe(error)) reporter.print(errorText(error, { command, debug }));
    return exitCodeOfError(error);
  };
  process.on("uncaughtException", (error) => process.exit(fail(error)));

  const controller = new AbortController();
  abortOnSignals(controller, process, systemClock);
  printOnSignal(process, () => reporter.printStatus());
  const stdout = abortOnBrokenOutput(controller, process.stdout);
  process.stderr.on("error", () => undefined); // nobody is left to read it

  let stdin: NodeJS.ReadStream | null = null;
  const lastSteps: (() => void)[] = [];
  try {
    const code = await runProgram(args, {
      version: programInfo().version,
      env: process.env,
      stdin: () => (stdin ??= process.stdin),
      stdout: safeOnTerminal(process.stdout),
      stderr: safeOnTerminal(process.stderr),
      signal: controller.signal,
      clock: systemClock,
      reporter,
      beforeExit: (step) => void lastSteps.push(step),
    });
    const fault = stdout.fault();
    return { code: fault === null ? code : fail(fault), lastSteps };
  } catch (error) {
    return { code: fail(error), lastSteps };
  } finally {
    (stdin as NodeJS.ReadStream | null)?.destroy();
  }
}
