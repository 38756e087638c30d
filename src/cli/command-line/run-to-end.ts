import { commandNamed, commandNames, loadCommand } from "../command-list.js";
import { UsageError } from "../../core/errors.js";
import type { Command } from "../command.js";
import type { CliContext } from "../terminal/cli-context.js";
import { endingOfError, exitCodeOfError } from "../exit-code.js";
import { flagName, variableName } from "../options/option-spec.js";
import { isBrokenPipe, runProgram } from "./program.js";
import { RunWatch } from "../unattended/run-watch.js";

export interface EndOptions {
  /** Include stack traces in errors. */
  readonly debug: boolean;
  /** The fault of stdout, which may show only after the command has returned. */
  readonly stdoutFault?: () => Error | null;
  /** Receives a function that reports the end at once, for a process that has to exit. */
  readonly onWatch?: (endNow: (code: number, error: unknown) => void) => void;
}

/** Runs the command line, prints its error, reports its end, and resolves to the exit code. */
export async function runToEnd(
  args: readonly string[],
  context: CliContext,
  { debug, stdoutFault = () => null, onWatch }: EndOptions,
): Promise<number> {
  const command = await loadCommand(commandNamed(args, commandNames));
  const watch = openWatch(command, args, context);
  if (watch !== null) onWatch?.((code, error) => watch.endNow(code, error));
  let error: unknown = null;
  let code: number;
  try {
    code = await runProgram(args, context, watch);
    error = stdoutFault();
  } catch (caught) {
    code = 0;
    error = caught;
  }
  if (error !== null) {
    code = exitCodeOfError(error);
    printError(error, args, context, debug);
    // Other errors may end a command whose JSON is already printed.
    const isUnsaid =
      watch === null && error instanceof UsageError && wantsJson(command, args, context);
    if (isUnsaid) context.stdout.write(`${JSON.stringify(endingOfError(error, false))}\n`);
  }
  await watch?.end(code, error);
  return code;
}

/** Prints an error. A reader that closed stdout is none. */
export function printError(
  error: unknown,
  args: readonly string[],
  { reporter }: Pick<CliContext, "reporter">,
  debug: boolean,
): void {
  reporter.clear();
  if (!isBrokenPipe(error)) reporter.error(error, { command: commandNamed(args), debug });
}

/**
 * The watch of a command that has its options; null for any other. Reads the settings that say how
 * to report errors from the bare arguments, since the errors may be about these.
 */
function openWatch(
  command: Command | null,
  args: readonly string[],
  context: CliContext,
): RunWatch | null {
  const early = (key: string, options?: EarlyOptions): string | undefined =>
    earlySetting(key, args, context.env, options);
  if (early("logFormat") === "json") context.reporter.format = "json";
  if (command?.isJob !== true) return null;
  return new RunWatch(command.name, args, context, {
    json: wantsJson(command, args, context),
    quiet: isOn(early("quiet", { alias: "q", bare: "true" })),
    output: early("output", { alias: "o" }) ?? "-",
    metrics: early("metrics"),
    ping: early("ping"),
  });
}

/** Whether a command that has `--json` is called with it. */
function wantsJson(
  command: Command | null,
  args: readonly string[],
  { env }: Pick<CliContext, "env">,
): boolean {
  const hasJson = command !== null && "json" in command.options.shape;
  return hasJson && isOn(earlySetting("json", args, env, { bare: "true" }));
}

interface EarlyOptions {
  readonly alias?: string;
  /** Value of a flag without one: "true" for a switch. @default none */
  readonly bare?: string;
}

/**
 * The value of an option before the command line is parsed, so that its errors appear as asked: of
 * its flag, else of its variable; undefined if there is none.
 */
function earlySetting(
  key: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  { alias, bare }: EarlyOptions = {},
): string | undefined {
  const flag = `--${flagName(key)}`;
  const end = args.indexOf("--");
  const flags = end === -1 ? args : args.slice(0, end);
  for (const [index, arg] of flags.entries()) {
    if (arg === flag || arg === `-${alias}`) {
      const next = flags[index + 1];
      return next === undefined || (next.startsWith("-") && next !== "-") ? bare : next;
    }
    if (arg.startsWith(`${flag}=`)) return arg.slice(flag.length + 1);
    if (alias !== undefined && /^-[^-]./.test(arg) && arg[1] === alias) {
      return arg.slice(2).replace(/^=/, "");
    }
  }
  return env[variableName(key)] || undefined;
}

/** Whether an early setting turns a switch on. */
function isOn(value: string | undefined): boolean {
  return value !== undefined && !/^(?:false|0|no|off)$/i.test(value.trim());
}
