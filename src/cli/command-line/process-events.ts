import type { Writable } from "node:stream";
import type { Clock } from "../../core/clock.js";
import { InterruptedError, type StopSignal, stopSignals } from "../../core/errors.js";
import { OutputClosedError } from "../../outputs/file-destination.js";
import { outputFault } from "../../outputs/output-fault.js";
import { exitCodes } from "../exit-code.js";

/** The part of `process` that handles signals. */
export interface SignalledProcess {
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
