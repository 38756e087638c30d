import type { Writable } from "node:stream";
import { type Clock, systemClock } from "../../core/clock.js";
import { InterruptedError, type StopSignal, stopSignals, UsageError } from "../../core/errors.js";
import { programInfo } from "../../core/program.js";
import { shellWord } from "../../core/wording/quantity.js";
import { Reporter, type LogFormat } from "../terminal/reporter.js";
import { OutputClosedError } from "../../io/output/part-file.js";
import { outputFault } from "../../core/files/output-fault.js";
import { exitCodeOfError, exitCodes, endingOfError } from "../../jobs/enrich/ending.js";
import { safeOnTerminal } from "../terminal/terminal-output.js";
import { commandNamed, loadCommands } from "../command-list.js";
import { checkOperands, completionFlag } from "../command.js";
import type { CliContext } from "../terminal/cli-context.js";
import { flagName, variableName } from "../options/settings.js";
import { passwordWarning, shownCommand } from "../options/redact.js";
import { RunWatch, type WatchSettings } from "../unattended/run-watch.js";
import { parseArguments, readLine, type TypedLine } from "./parse-arguments.js";
import { readSettings } from "./config-file.js";
import { complete } from "./yargs-parser.js";

/**
 * Runs the command line of this process and prints errors.
 *
 * @returns the exit code, and steps to run right before the process exits, in this order
 */
export async function runCommandLine(args: readonly string[]) {
  const reporter = new Reporter(process.stderr);
  let endNow = (_code: number, _error: unknown): void => undefined;
  process.on("uncaughtException", (error) => {
    const code = exitCodeOfError(error);
    printError(error, args, reporter);
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
      stdoutFault: () => stdout.fault(),
      onWatch: (end) => (endNow = end),
    });
    if (code !== exitCodes.done && code !== exitCodes.rowsFailed) return { code, lastSteps };
    // A full disk shows only once stdout has what was printed last.
    await written(process.stdout);
    const fault = stdout.fault();
    if (fault === null || fault instanceof OutputClosedError) return { code, lastSteps };
    printError(fault, args, reporter);
    return { code: exitCodeOfError(fault), lastSteps };
  } finally {
    (stdin as NodeJS.ReadStream | null)?.destroy();
  }
}

/** Resolves once the stream is flushed or its reader has closed it. */
export function written(stream: Writable): Promise<void> {
  return new Promise((resolve) => void stream.write("", () => setImmediate(resolve)));
}

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

const widestHelp = 100;

/**
 * Runs the command line, prints its error, reports its end, and resolves to the exit code.
 *
 * @param process `stdoutFault` tells of a fault that may show only after the command has returned;
 *   `onWatch` receives what reports the end at once, for a process that has to exit
 */
export async function runToEnd(
  args: readonly string[],
  context: CliContext,
  process: {
    readonly stdoutFault?: () => Error | null;
    readonly onWatch?: (endNow: (code: number, error: unknown) => void) => void;
  } = {},
): Promise<number> {
  if (args[0] === completionFlag) {
    context.stdout.write(await complete(args.slice(1)));
    return 0;
  }
  const line = await readLine(args);
  const watch = openWatch(line, context);
  if (watch !== null) process.onWatch?.((code, error) => watch.endNow(code, error));
  let error: unknown = null;
  let code: number;
  try {
    code = await runLine(line, context, watch);
    error = process.stdoutFault?.() ?? null;
  } catch (caught) {
    code = 0;
    error = withOwnCommand(caught, args);
  }
  if (error !== null) {
    code = exitCodeOfError(error);
    printError(error, args, context.reporter);
    // Other errors may end a command whose JSON is already printed.
    const isUnsaid = watch === null && error instanceof UsageError && wantsJson(line, context);
    if (isUnsaid) context.stdout.write(`${JSON.stringify(endingOfError(error, false))}\n`);
  }
  await watch?.end(code, error);
  return code;
}

async function runLine(
  line: TypedLine,
  context: CliContext,
  watch: RunWatch | null,
): Promise<number> {
  const { args } = line;
  const parsed = parseArguments(line);
  if (parsed.action === "version") {
    context.stdout.write(`${context.version}\n`);
    return 0;
  }
  if (parsed.action === "help") {
    const width = Math.min(context.stdout.columns || 80, widestHelp);
    const { helpText } = await import("./help.js");
    context.stdout.write(await helpText(parsed.topic, await loadCommands(), width));
    return 0;
  }
  const { command, flags, operands } = parsed;
  const warning = passwordWarning(args);
  if (warning !== null) context.reporter.warning(warning);
  const loaded = await readSettings(command, flags, context);
  await startWatch(loaded.settings, context, watch);
  checkOperands(command, operands);
  const code = await command.run({
    ...loaded,
    operands,
    operand: operands[0] ?? "",
    shownCommand: shownCommand(args),
    context,
    watch,
  });
  return code ?? exitCodes.done;
}

async function startWatch(
  settings: Readonly<Record<string, unknown>>,
  { reporter }: CliContext,
  watch: RunWatch | null,
): Promise<void> {
  const known = { output: "-", ...settings } as unknown as WatchSettings & {
    readonly logFormat?: LogFormat;
  };
  if (known.logFormat !== undefined) reporter.format = known.logFormat;
  // A JSON summary on stderr must stand alone, unless all of stderr is JSON.
  const isAlone =
    watch !== null && known.json && known.output === "-" && reporter.format === "text";
  reporter.isQuiet = known.quiet || isAlone;
  await watch?.start(known);
}

/** The error with the user's own command in its hint, to copy. */
function withOwnCommand(error: unknown, args: readonly string[]): unknown {
  if (!(error instanceof UsageError) || error.hint === null || error.command === null) return error;
  const own = shownCommand(args).map(shellWord).join(" ");
  const hint = error.hint.replace(error.command, () => own);
  return new UsageError(error.code, error.message, { cause: error, hint });
}

/** Prints an error. A reader that closed stdout is none. */
function printError(error: unknown, args: readonly string[], reporter: Reporter): void {
  reporter.clear();
  if (!(error instanceof OutputClosedError)) reporter.error(error, commandNamed(args));
}

/**
 * The watch of a command that has its options; null for any other. Reads the settings that say how
 * to report errors before they are checked, since the errors may be about these.
 */
function openWatch(line: TypedLine, context: CliContext): RunWatch | null {
  const early = (key: string): string | undefined => earlySetting(key, line, context);
  if (early("logFormat") === "json") context.reporter.format = "json";
  if (line.command?.isJob !== true) return null;
  return new RunWatch(line.command.name, line.args, context, {
    json: wantsJson(line, context),
    quiet: isOn(early("quiet")),
    output: early("output") ?? "-",
    metrics: early("metrics"),
    ping: early("ping"),
  });
}

function wantsJson(line: TypedLine, context: CliContext): boolean {
  const hasJson = line.command !== null && "json" in line.command.options.shape;
  return hasJson && isOn(earlySetting("json", line, context));
}

/**
 * The value of an option before the command line is checked, so that its errors appear as asked: of
 * its flag, else of its variable; undefined if there is none.
 */
function earlySetting(
  key: string,
  { flags }: TypedLine,
  { env }: Pick<CliContext, "env">,
): string | undefined {
  const [value] = [flags[flagName(key)] as string | boolean | undefined].flat();
  return value === undefined ? env[variableName(key)] || undefined : String(value);
}

function isOn(value: string | undefined): boolean {
  return value !== undefined && !/^(?:false|0|no|off)$/i.test(value.trim());
}
