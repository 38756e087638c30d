import { loadCommands } from "../command-list.js";
import { checkOperands } from "../command.js";
import type { CliContext } from "../terminal/cli-context.js";
import { parseArguments, type TypedLine } from "./parse-arguments.js";
import { passwordWarning, shownCommand } from "../options/redact.js";
import { checkSecretFiles } from "../options/secrets.js";
import { readSettings } from "./setting-levels.js";
import type { Writable } from "node:stream";
import type { Clock } from "../../core/clock.js";
import { InterruptedError, type StopSignal, stopSignals } from "../../core/errors.js";
import { outputFault } from "../../outputs/output-fault.js";
import type { LogFormat } from "../terminal/reporter.js";
import type { RunWatch, WatchSettings } from "../unattended/run-watch.js";
import { OutputClosedError } from "../../outputs/file-destination.js";
import { exitCodes } from "../exit-code.js";

const widestHelp = 100;

function helpWidth({ stdout }: CliContext): number {
  return Math.min(stdout.columns || 80, widestHelp);
}

/**
 * Runs the command line and resolves to the exit code.
 *
 * @throws UsageError, FatalError, InterruptedError
 */
export async function runProgram(
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
    const { helpText } = await import("./help.js");
    context.stdout.write(helpText(parsed, await loadCommands(), helpWidth(context)));
    return 0;
  }
  const { command, flags, operands } = parsed;
  const warning = passwordWarning(args);
  if (warning !== null) context.reporter.warning(warning);
  await checkSecretFiles(flags);
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

/** The part of `process` that handles signals. */
export interface SignalledProcess {
  on(event: StopSignal | "SIGUSR1", listener: () => void): unknown;
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

/** Whether the reader of stdout closed it (`| head`), which is not an error. */
export function isBrokenPipe(error: unknown): boolean {
  return error instanceof OutputClosedError;
}
