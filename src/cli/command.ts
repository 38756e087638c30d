import type { Readable, Writable } from "node:stream";
import { z } from "zod";
import type { Clock } from "../core/clock.js";
import type { LoadedSettings } from "./options/settings.js";
import type { Reporter } from "./terminal/reporter.js";
import { UsageError } from "../core/errors.js";

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
export interface CommandCall<Settings> extends LoadedSettings<Settings> {
  /** Arguments that are no flags, in order; `-` stands as it was written. */
  readonly operands: readonly string[];
  /** The first of them; "" where there is none. */
  readonly operand: string;
  /** The command line as it may be shown: no secrets. */
  readonly shownCommand: readonly string[];
  readonly context: CliContext;
}

/** Options by the title under which the help lists them, and by their names. */
export type OptionGroups = Readonly<Record<string, z.ZodRawShape>>;

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
  /** Operands as the help lists them: placeholder and meaning. Without any, none is accepted. */
  readonly operands: readonly (readonly [placeholder: string, meaning: string])[];
  /** Of a command with exactly one operand: what it is, as in "the name of a tag". */
  readonly onlyOperand?: { readonly what: string; readonly hint?: string };
  /** The allowed values of that operand, where they are few. */
  readonly operandChoices?: readonly string[];
  /** Every option of the command. */
  readonly options: z.ZodObject;
  readonly groups: OptionGroups;
  /** Command lines and what each does, a phrase that begins in lower case. */
  readonly examples: Readonly<Record<string, string>>;
  /** Exit codes and their meaning, in ascending order. */
  readonly exitCodes: readonly (readonly [code: string, meaning: string])[];
  /** Variables beside those of the options and their secrets, as the help lists them. */
  readonly variables?: readonly (readonly [name: string, meaning: string])[];
  /**
   * Runs the command and resolves to the exit code.
   *
   * @throws UsageError, FatalError, InterruptedError
   */
  readonly run: (call: CommandCall<unknown>) => Promise<number>;
}

/** Commands that share their first word. */
export interface CommandGroup {
  readonly name: string;
  /** One line for shell completion. */
  readonly summary: string;
  /** What a person should know first; paragraphs, wrapped by the help. */
  readonly description: readonly string[];
}

export function isCommand(topic: Command | CommandGroup): topic is Command {
  return "run" in topic;
}

/** The settings that the options of all groups yield. */
export type SettingsOf<Groups extends OptionGroups> = Intersection<
  { [Title in keyof Groups]: z.output<z.ZodObject<Groups[Title]>> }[keyof Groups]
>;

type Intersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

/** A command with the type of its own settings. */
interface CommandDefinition<Groups extends OptionGroups> extends Omit<
  Command,
  "options" | "groups" | "run"
> {
  readonly groups: Groups;
  readonly run: (call: CommandCall<SettingsOf<Groups>>) => Promise<number>;
}

/**
 * Makes a command out of its definition. The settings that `run` is given are always those that
 * the command's own schema let through, which is what makes the narrowing sound.
 */
export function defineCommand<Groups extends OptionGroups>(
  definition: CommandDefinition<Groups>,
): Command {
  return {
    ...definition,
    options: z.strictObject(Object.assign({}, ...Object.values(definition.groups))),
    run: (call) => definition.run(call as CommandCall<SettingsOf<Groups>>),
  };
}

/** @throws UsageError for arguments of a command that takes none, and for all but one of one that takes one */
export function checkOperands(command: Command, operands: readonly string[]): void {
  const { name, onlyOperand } = command;
  if (command.operands.length === 0) noOperands(name, operands);
  if (onlyOperand === undefined) return;
  const { what, hint } = onlyOperand;
  if ((operands[0] ?? "").trim() === "") {
    const options = hint === undefined ? {} : { hint };
    throw new UsageError("argument_missing", `${name} needs ${what}`, options);
  }
  const { operandChoices } = command;
  if (operandChoices && !operandChoices.includes(operands[0] ?? "")) {
    throw new UsageError(
      "invalid_setting",
      `${name} needs ${what}: ${operandChoices.join(", ")}; got ${operands[0]}`,
    );
  }
  if (operands.length > 1) {
    throw new UsageError(
      "too_many_arguments",
      `${name} takes ${what} and nothing else; got ${operands.join(" ")}`,
      { hint: "quote what holds spaces" },
    );
  }
}

/** @throws UsageError when there are arguments */
export function noOperands(command: string, operands: readonly string[]): void {
  if (operands.length === 0) return;
  throw new UsageError(
    "too_many_arguments",
    `${command} takes no argument; got ${operands.join(" ")}`,
  );
}
