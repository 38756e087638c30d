import type { Readable, Writable } from "node:stream";
import type { z } from "zod";
import type { Clock } from "../core/clock.js";
import type { LoadedSettings } from "./options/settings.js";
import type { Reporter } from "./terminal/reporter.js";

/** What the program is given by the process around it; a test gives its own. */
export interface CliContext {
  /** Version of the program. */
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Standard input; opened when it is asked for, since an open one keeps a process alive. */
  readonly stdin: () => Readable & { readonly isTTY?: boolean };
  /** On a terminal, control characters written to it are shown as `<U+001B>`. */
  readonly stdout: TerminalStream;
  readonly stderr: TerminalStream;
  /** Aborts with an `InterruptedError` on the first signal that stops a run. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly reporter: Reporter;
  /** Takes the last step of a finished run, to be done right before the process exits. */
  readonly beforeExit?: (step: () => void) => void;
}

/** A stream that may be a terminal; `columns` is its width then. */
export type TerminalStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** One call of a command: what the user said, checked. */
export interface CommandCall<Settings> {
  readonly settings: Settings;
  /** Where each setting came from. */
  readonly loaded: LoadedSettings<Settings>;
  /** Arguments that are no flags, in order; `-` stands as it was written. */
  readonly operands: readonly string[];
  /** The command line as it may be shown: no secrets. */
  readonly shownCommand: readonly string[];
  readonly context: CliContext;
}

/** Options that stand together in the help. */
interface OptionGroup {
  readonly title: string;
  /** Names of the members in the command's schema, in the order of the help. */
  readonly keys: readonly string[];
}

interface Example {
  readonly command: string;
  /** What it does, as a phrase that begins in lower case. */
  readonly what: string;
}

/** A command of the program. */
export interface Command {
  /** One word, or two: that of its group and its own. */
  readonly name: string;
  /** What follows the name in the usage line, e.g. `[input] -o OUT`. */
  readonly usage: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** What a person should know first; paragraphs, wrapped by the help. */
  readonly description: readonly string[];
  /** Operands as the help lists them: placeholder and meaning. */
  readonly operands: readonly (readonly [placeholder: string, meaning: string])[];
  readonly options: z.ZodObject;
  readonly groups: readonly OptionGroup[];
  readonly examples: readonly Example[];
  /** Exit codes and their meaning, in ascending order. */
  readonly exitCodes: readonly (readonly [code: string, meaning: string])[];
  /** Variables beside those of the options and their secrets, as the help lists them. */
  readonly variables?: readonly (readonly [name: string, meaning: string])[];
  /**
   * Does it and resolves to the exit code.
   *
   * @throws UsageError, FatalError, InterruptedError
   */
  readonly run: (call: CommandCall<unknown>) => Promise<number>;
}

/** Commands that share their first word. */
export interface CommandGroup {
  readonly name: string;
  /** What a person should know first; paragraphs, wrapped by the help. */
  readonly description: readonly string[];
}

/** A command with the type of its own settings. */
export interface CommandDefinition<Schema extends z.ZodObject> extends Omit<
  Command,
  "options" | "run"
> {
  readonly options: Schema;
  readonly run: (call: CommandCall<z.output<Schema>>) => Promise<number>;
}

/**
 * Makes a command out of its definition. The settings that `run` is given are always those that
 * the command's own schema let through, which is what makes the narrowing sound.
 */
export function defineCommand<Schema extends z.ZodObject>(
  definition: CommandDefinition<Schema>,
): Command {
  return {
    ...definition,
    run: (call) => definition.run(call as CommandCall<z.output<Schema>>),
  };
}
