#!/usr/bin/env node
import { programInfo } from "../core/program.js";

const args = process.argv.slice(2);

// Asking for the version loads nothing else: scripts ask often.
if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
  process.stdout.write(`${programInfo().version}\n`);
} else {
  process.exitCode = await main();
  // Stopped by a signal: what still waits (a pipe that nobody writes to, a reader that takes nothing
  // more) waits for good, and everything that is to stay is on the disk.
  if (process.exitCode === 130 || process.exitCode === 143) process.exit();
}

async function main(): Promise<number> {
  const [
    { runProgram },
    { commandNames, groups },
    { commandNamed },
    { Reporter },
    { errorText },
    exits,
    interruption,
    { systemClock },
    { compileParserLate },
  ] = await Promise.all([
    import("./program.js"),
    import("./command-list.js"),
    import("./find-command.js"),
    import("./reporter.js"),
    import("./error-text.js"),
    import("./exit-code.js"),
    import("./interruption.js"),
    import("../core/clock.js"),
    import("./tune-engine.js"),
  ]);
  compileParserLate();
  const reporter = new Reporter(process.stderr);
  const debug = !["", "0"].includes(process.env["REPUTE_DEBUG"] ?? "");
  const command = commandNamed(args, [...commandNames, ...groups.map(({ name }) => name)]);
  const fail = (error: unknown): number => {
    reporter.clear();
    if (!interruption.isBrokenPipe(error)) reporter.print(errorText(error, { command, debug }));
    return exits.exitCodeOfError(error);
  };
  process.on("uncaughtException", (error) => process.exit(fail(error)));

  const controller = new AbortController();
  interruption.abortOnSignals(controller, process, systemClock);
  const stdout = interruption.abortOnBrokenOutput(controller, process.stdout);
  process.stderr.on("error", () => undefined); // there is nobody left to tell

  let stdin: NodeJS.ReadStream | null = null;
  try {
    const code = await runProgram(args, {
      version: programInfo().version,
      env: process.env,
      stdin: () => (stdin ??= process.stdin),
      stdout: process.stdout,
      stderr: process.stderr,
      signal: controller.signal,
      clock: systemClock,
      reporter,
    });
    const fault = stdout.fault();
    return fault === null ? code : fail(fault);
  } catch (error) {
    return fail(error);
  } finally {
    (stdin as NodeJS.ReadStream | null)?.destroy();
  }
}
