import { secretFlag } from "../options/secrets.js";
import type { Writable } from "node:stream";
import { type Clock, systemClock } from "../../core/clock.js";
import { InterruptedError, stopSignals, UsageError } from "../../core/errors.js";
import { programInfo } from "../../core/program.js";
import { shellWord } from "../../core/wording/quantity.js";
import { Reporter } from "../terminal/reporter.js";
import { OutputClosedError } from "../../io/output/part-file.js";
import { outputFault } from "../../core/files/system-fault.js";
import { exitCodeOfError, exitCodes, endingOfError } from "../../jobs/enrich/ending.js";
import { redactAddress } from "../../core/redaction.js";
import { safeOnTerminal } from "../terminal/data-output.js";
import { commandNamed, loadCommands } from "../command-list.js";
import { checkOperands, completionFlag } from "../command.js";
import type { CliContext } from "../terminal/cli-context.js";
import { variableName } from "../options/settings.js";
import { RunWatch, type WatchSettings } from "../unattended/run-watch.js";
import { readLine } from "./parse-arguments.js";
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
  on(event: InterruptedError["signal"], listener: () => void): unknown;
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
  const { env, reporter } = context;
  const line = await readLine(args);
  if (line.asks !== null) {
    context.stdout.write(await answerTo(line.asks, context));
    return 0;
  }
  const { command, flags } = line;
  // From here on, since warnings about settings are log lines, too.
  const format = flags.get("logFormat")?.value ?? env[variableName("logFormat")];
  if (format === "json") reporter.format = "json";
  const loaded = command && (await readSettings(command, flags, context));
  const settings = { json: false, quiet: false, output: "-", ...loaded?.settings } as WatchSettings;
  if (settings.logFormat !== undefined) reporter.format = settings.logFormat;
  const shown = shownCommand(line.args);
  const watched = { name: command?.name ?? "", shownCommand: shown, context, settings };
  const watch = command?.isJob === true ? new RunWatch(watched) : null;
  if (watch !== null) process.onWatch?.((code, error) => watch.endNow(code, error));
  let error: unknown = line.fault ?? loaded?.fault ?? null;
  let code: number = exitCodes.done;
  try {
    if (command !== null && loaded !== null && error === null) {
      // A JSON summary on stderr must stand alone, unless all of stderr is JSON.
      const isAlone = settings.json && settings.output === "-" && reporter.format === "text";
      reporter.isQuiet = settings.quiet || (watch !== null && isAlone);
      const warning = passwordWarning(args);
      if (warning !== null) reporter.warning(warning);
      watch?.start();
      checkOperands(command, line.operands);
      const call = { ...line, ...loaded, operand: line.operands[0] ?? "", shownCommand: shown };
      code = (await command.run({ ...call, context, watch })) ?? exitCodes.done;
      error = process.stdoutFault?.() ?? null;
    }
  } catch (caught) {
    error = caught;
  }
  if (error !== null) {
    error = withOwnCommand(error, shown);
    code = exitCodeOfError(error);
    printError(error, args, reporter);
    // Other errors may end a command whose JSON is already printed.
    const isUnsaid = watch === null && error instanceof UsageError && settings.json;
    if (isUnsaid) context.stdout.write(`${JSON.stringify(endingOfError(error, false))}\n`);
  }
  await watch?.end(code, error);
  return code;
}

/** The text of the version or of a help page. */
async function answerTo(
  asks: NonNullable<Awaited<ReturnType<typeof readLine>>["asks"]>,
  { version, stdout }: CliContext,
): Promise<string> {
  if (asks === "version") return `${version}\n`;
  const { helpText } = await import("./help.js");
  return helpText(asks.helpOn, await loadCommands(), Math.min(stdout.columns || 80, widestHelp));
}

/** The error with the user's own command in its hint, to copy. */
function withOwnCommand(error: unknown, shown: readonly string[]): unknown {
  if (!(error instanceof UsageError) || error.hint === null || error.command === null) return error;
  const own = shown.map(shellWord).join(" ");
  const hint = error.hint.replace(error.command, () => own);
  return new UsageError(error.code, error.message, { cause: error, hint });
}

/** Prints an error. A reader that closed stdout is none. */
function printError(error: unknown, args: readonly string[], reporter: Reporter): void {
  reporter.clear();
  if (!(error instanceof OutputClosedError)) reporter.error(error, commandNamed(args));
}

/** User name and password, even with spaces, in an argument that is a single URL. */
const urlCredentials = /^((?:-\w|--[\w-]+=)?[a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i;
const passwordParameters = /([?&](?:ssl)?password=)[^&#]*/gi;

/** Path and query of a ping address: secret, since they are all it takes to send a ping. */
const pingPath = /^((?:--ping=)?https?:\/\/[^/?#]*).+$/i;

/** The command line with the credentials of URLs and what is given as a secret masked. */
export function shownCommand(args: readonly string[]): readonly string[] {
  const shown = args.map((arg, index) => {
    const [flag = "", value] = arg.split("=", 2);
    if (secretFlag.test(args[index - 1] ?? "")) return "***";
    if (value !== undefined && secretFlag.test(flag)) return `${flag}=***`;
    const isPing = arg.startsWith("--ping=") || args[index - 1] === "--ping";
    return shownArgument(isPing ? arg.replace(pingPath, "$1/***") : arg);
  });
  return ["repute", ...shown];
}

function shownArgument(arg: string): string {
  const masked = arg.replace(urlCredentials, "$1***@");
  return redactAddress(
    masked.includes("://") ? masked.replaceAll(passwordParameters, "$1***") : masked,
  );
}

/** A PostgreSQL or Redis address with a password, as an argument or after `--flag=`. */
const withPassword =
  /^(?:-\w|--[\w-]+=)?(?:postgres|redis)(?:ql|s)?:\/\/(?:[^/?#]*:[^/?#]+@|.*[?&](?:ssl)?password=[^&])/i;

export function passwordWarning(args: readonly string[]): string | null {
  if (!args.some((arg) => withPassword.test(arg))) return null;
  return (
    "other users can see the password on the command line (ps): set PGPASSWORD or REDISCLI_AUTH, " +
    "use ~/.pgpass, or set the address in a variable or config file"
  );
}
