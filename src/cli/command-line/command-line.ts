import type { Writable } from "node:stream";
import { type Clock, systemClock } from "../../core/clock.js";
import { InterruptedError, type StopSignal, stopSignals } from "../../core/errors.js";
import { programInfo } from "../../core/program.js";
import { Reporter } from "../terminal/reporter.js";
import { OutputClosedError } from "../../io/output/file-destination.js";
import { outputFault } from "../../io/output/output-fault.js";
import { exitCodeOfError, exitCodes } from "../exit-code.js";
import { printError, runToEnd } from "./run-to-end.js";
import { safeOnTerminal } from "../terminal/terminal-output.js";

/** How the process exits. */
interface Ending {
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
    return { code: await codeOnceWritten(code, stdout, args, reporter), lastSteps };
  } finally {
    (stdin as NodeJS.ReadStream | null)?.destroy();
  }
}

/** The exit code, once stdout has what was printed last: a full disk shows only then. */
async function codeOnceWritten(
  code: number,
  stdout: { readonly fault: () => Error | null },
  args: readonly string[],
  reporter: Reporter,
): Promise<number> {
  if (code !== exitCodes.done && code !== exitCodes.rowsFailed) return code;
  await written(process.stdout);
  const fault = stdout.fault();
  if (fault === null || fault instanceof OutputClosedError) return code;
  printError(fault, args, { reporter }, false);
  return exitCodeOfError(fault);
}

/** Resolves once the stream is flushed or its reader has closed it. */
export function written(stream: Writable): Promise<void> {
  return new Promise((resolve) => void stream.write("", () => setImmediate(resolve)));
}

/** The part of `process` that handles signals. */
interface SignalledProcess {
  on(event: StopSignal, listener: () => void): unknown;
  exit(code: number): void;
}

/** A terminal's signal may arrive twice: from the terminal and from npm. */
const echoMs = 100;

/**
 * The first stop signal ends the run cleanly, the second exits at once.
 *
 * @param onExit called right before the exit
 */
export function abortOnSignals(
  controller: AbortController,
  process: SignalledProcess,
  clock: Clock,
  onExit: (code: number, error: InterruptedError) => void = () => undefined,
): void {
  let firstAt: number | null = null;
  for (const name of stopSignals) {
    process.on(name, () => {
      const now = clock.monotonic();
      if (firstAt === null) {
        firstAt = now;
        controller.abort(new InterruptedError(name));
      } else if (now - firstAt > echoMs) {
        onExit(exitCodes[name], new InterruptedError(name));
        process.exit(exitCodes[name]);
      }
    });
  }
}

/** Aborts the run when stdout fails; `fault` returns the error afterwards. */
export function abortOnBrokenOutput(
  controller: AbortController,
  stdout: Writable,
): { fault(): Error | null } {
  let fault: Error | null = null;
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    fault ??= error.code === "EPIPE" ? new OutputClosedError(error) : outputFault("stdout", error);
    controller.abort(fault);
  });
  return { fault: () => fault };
}
