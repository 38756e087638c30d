import type { Writable } from "node:stream";
import type { Clock } from "../core/clock.js";
import { InterruptedError, stopSignals } from "../core/errors.js";
import type { StopSignal } from "../core/errors.js";
import { outputFault } from "../outputs/output-fault.js";
import { OutputClosedError } from "../outputs/stream-destination.js";
import { exitCodes } from "./exit-code.js";

/** The part of `process` that delivers signals and ends it. */
export interface SignalledProcess {
  on(event: StopSignal | "SIGUSR1", listener: () => void): unknown;
  exit(code: number): void;
}

/** A terminal's signal may reach a process twice, once from the terminal and once from npm. */
const echoMs = 100;

/** Ends the run cleanly on the first signal that stops it, and the process at once on the second. */
export function abortOnSignals(
  controller: AbortController,
  process: SignalledProcess,
  clock: Clock,
): void {
  let firstAt: number | null = null;
  for (const name of stopSignals) {
    process.on(name, () => {
      const now = clock.monotonic();
      if (firstAt === null) {
        firstAt = now;
        controller.abort(new InterruptedError(name));
      } else if (now - firstAt > echoMs) {
        process.exit(exitCodes[name]);
      }
    });
  }
}

/** Tells the progress on SIGUSR1, as dd does; without a listener Node.js would open its debugger. */
export function tellOnSignal(process: SignalledProcess, tell: () => void): void {
  process.on("SIGUSR1", tell);
}

/** Ends the run when stdout takes no more; `fault` tells afterwards what had happened to it. */
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

/** Whether a run ended because the reader of stdout has gone (`| head`), which is no fault. */
export function isBrokenPipe(error: unknown): boolean {
  return error instanceof OutputClosedError;
}
