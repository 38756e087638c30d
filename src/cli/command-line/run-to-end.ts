import { commandNamed, loadCommands } from "../command-list.js";
import { UsageError } from "../../core/errors.js";
import { OutputClosedError } from "../../io/output/file-destination.js";
import { checkOperands, completionFlag } from "../command.js";
import type { CliContext } from "../terminal/cli-context.js";
import { endingOfError, exitCodeOfError } from "../exit-code.js";
import { flagName, variableName } from "../options/option-spec.js";
import { passwordWarning, shownCommand } from "../options/redact.js";
import type { LogFormat } from "../terminal/reporter.js";
import { RunWatch, type WatchSettings } from "../unattended/run-watch.js";
import { parseArguments, readLine, type TypedLine } from "./parse-arguments.js";
import { readSettings } from "./setting-levels.js";

const widestHelp = 100;

interface EndOptions {
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
  if (args[0] === completionFlag) {
    const { complete } = await import("./complete.js");
    context.stdout.write(await complete(args.slice(1)));
    return 0;
  }
  const line = await readLine(args);
  const watch = openWatch(line, context);
  if (watch !== null) onWatch?.((code, error) => watch.endNow(code, error));
  let error: unknown = null;
  let code: number;
  try {
    code = await runLine(line, context, watch);
    error = stdoutFault();
  } catch (caught) {
    code = 0;
    error = caught;
  }
  if (error !== null) {
    code = exitCodeOfError(error);
    printError(error, args, context, debug);
    // Other errors may end a command whose JSON is already printed.
    const isUnsaid = watch === null && error instanceof UsageError && wantsJson(line, context);
    if (isUnsaid) context.stdout.write(`${JSON.stringify(endingOfError(error, false))}\n`);
  }
  await watch?.end(code, error);
  return code;
}

/** Runs the command line and resolves to the exit code. */
async function runLine(
  line: TypedLine,
  context: CliContext,
  watch: RunWatch | null,
): Promise<number> {
  const { args } = line;
  const parsed = await parseArguments(line);
  if (parsed.action === "version") {
    context.stdout.write(`${context.version}\n`);
    return 0;
  }
  if (parsed.action === "help") {
    const width = Math.min(context.stdout.columns || 80, widestHelp);
    const { firstSteps, helpText } = await import("./help.js");
    const isNew = args.length === 0 && context.stdout.isTTY === true;
    const text = isNew ? firstSteps(width) : helpText(parsed, await loadCommands(), width);
    context.stdout.write(text);
    return 0;
  }
  const { command, flags, operands } = parsed;
  const warning = passwordWarning(args);
  if (warning !== null) context.reporter.warning(warning);
  const loaded = await readSettings(command, flags, context);
  await startWatch(loaded.settings, context, watch);
  checkOperands(command, operands);
  return command.run({
    ...loaded,
    operands,
    operand: operands[0] ?? "",
    shownCommand: shownCommand(args),
    context,
    watch,
  });
}

/** Applies the settings that say how to report the run to people and machines. */
async function startWatch(
  settings: Readonly<Record<string, unknown>>,
  { reporter }: CliContext,
  watch: RunWatch | null,
): Promise<void> {
  const known = { output: "-", ...settings } as unknown as WatchSettings & {
    readonly logFormat?: LogFormat;
  };
  if (known.logFormat !== undefined) reporter.format = known.logFormat;
  await watch?.start(known);
}

/** Prints an error. A reader that closed stdout is none. */
export function printError(
  error: unknown,
  args: readonly string[],
  { reporter }: Pick<CliContext, "reporter">,
  debug: boolean,
): void {
  reporter.clear();
  if (error instanceof OutputClosedError) return;
  reporter.error(error, { command: commandNamed(args), debug });
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

/** Whether a command that has `--json` is called with it. */
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

/** Whether an early setting turns a switch on. */
function isOn(value: string | undefined): boolean {
  return value !== undefined && !/^(?:false|0|no|off)$/i.test(value.trim());
}
