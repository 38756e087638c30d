#!/usr/bin/env node
import { programInfo } from "../core/program.js";

// Without a listener, Node.js starts its debugger on SIGUSR1.
process.on("SIGUSR1", () => undefined);

const args = process.argv.slice(2);

// Load nothing else for the version: scripts ask for it often.
if (args.length === 1 && ["--version", "-V", "-v", "version"].includes(args[0] ?? "")) {
  process.stdout.on("error", ({ message }) => {
    process.stderr.write(`repute: cannot write stdout: ${message}\n`);
    process.exitCode = 1;
  });
  process.stdout.write(`${programInfo().version}\n`);
} else {
  const { runCommandLine, written } = await import("./command-line/command-line.js").catch(refuse);
  const { isInterrupted } = await import("../jobs/enrich/ending.js").catch(refuse);
  const { code, lastSteps } = await runCommandLine(args);
  process.exitCode = code;
  if (lastSteps.length > 0) {
    await Promise.all([process.stdout, process.stderr].map(written));
    for (const step of lastSteps) step();
    // Exit at once: nothing may happen between the last steps and the exit.
    process.exit();
  }
  // After a signal, do not wait for a pipe that may never drain. What a resume needs is on disk.
  if (isInterrupted(code)) process.exit();
}

/** Ends a process that cannot load the program because it is out of open files or memory. */
function refuse(error: Error): never {
  process.stderr.write(
    `repute: cannot load the program: ${error.message}\n  raise the limits of the process, such as ulimit -n 1024\n`,
  );
  process.exit(1);
}
