#!/usr/bin/env node
import { programInfo } from "../core/program.js";

// Node.js opens its debugger on SIGUSR1 unless somebody listens. `command-line.ts` prints the
// progress then; until it is loaded, the signal does nothing.
process.on("SIGUSR1", () => undefined);

const args = process.argv.slice(2);

// Asking for the version loads nothing else: scripts ask often.
if (args.length === 1 && ["--version", "-V", "-v", "version"].includes(args[0] ?? "")) {
  process.stdout.write(`${programInfo().version}\n`);
} else {
  const { runCommandLine } = await import("./command-line.js");
  const { isInterrupted } = await import("./exit-code.js");
  const { code, lastSteps } = await runCommandLine(args);
  process.exitCode = code;
  if (lastSteps.length > 0) {
    await Promise.all([process.stdout, process.stderr].map(written));
    for (const step of lastSteps) step();
    // At once: a run that is killed between here and the exit cannot be told from one that was not.
    process.exit();
  }
  // Stopped by a signal: what still waits (a pipe that nobody writes to, a reader that takes nothing
  // more) waits for good, and everything that is to stay is on the disk.
  if (isInterrupted(code)) process.exit();
}

/** Resolves when everything written to a stream is out, or its reader has gone. */
function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => void stream.write("", () => resolve()));
}
