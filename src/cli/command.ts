import { z } from "zod";
import { cliOptions } from "./options/cli-options.js";
import { type LoadedSettings, optionSpecs } from "./options/settings.js";
import type { CliContext } from "./terminal/cli-context.js";
import { UsageError } from "../core/errors.js";
import type { RunWatch } from "./unattended/run-watch.js";

export interface CommandCall<Settings> extends LoadedSettings<Settings> {
  /** Arguments other than flags, in order. */
  readonly operands: readonly string[];
  /** The first operand, or "". */
  readonly operand: string;
  /** The command line without secrets. */
  readonly shownCommand: readonly string[];
  readonly context: CliContext;
  /** Reports how a job runs and ends; null for other commands. */
  readonly watch: RunWatch | null;
}

/** First argument of a call by a completion script; the words typed so far follow. */
export const completionFlag = "--get-yargs-completions";

/** Options by their section in the help, then by name. */
type OptionGroups = Readonly<Record<string, z.ZodRawShape>>;

type Operand = readonly [placeholder: string, meaning: string];

interface CommandDefinition<Groups extends OptionGroups> {
  /** One word, or two: group and command. */
  readonly name: string;
  /** The usage line after the name, e.g. `[input] -o OUT`. @default its operand and `[flags]` */
  readonly usage?: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** Paragraphs at the top of the help. */
  readonly description: readonly string[];
  /** The one operand that it needs. */
  readonly operand?: Operand;
  /** Operands of which it takes any number. With neither, the command rejects operands. */
  readonly operands?: readonly Operand[];
  /** The allowed values of its only operand. @default any value */
  readonly operandChoices?: readonly string[];
  /** Whether the command is a job, which has `--json` and the unattended options. */
  readonly isJob?: true;
  /** Every option. A command without any ignores the config file. */
  readonly groups: Groups;
  /** Command lines and what each does, as a lower-case phrase. */
  readonly examples: Readonly<Record<string, string>>;
  /** Adds to the common exit codes or replaces their meaning; null removes one. */
  readonly exitCodes?: Readonly<Record<string, string | null>>;
  /** Environment variables besides those of the options and secrets. */
  readonly variables?: Readonly<Record<string, string>>;
  /**
   * Runs the command and resolves to its exit code, if that is not 0.
   *
   * @throws UsageError, FatalError, InterruptedError
   */
  readonly run: (call: CommandCall<SettingsOf<Groups>>) => Promise<number | void>;
}

/** A command with every option in its groups and its schema. */
export type Command = ReturnType<typeof defineCommand>;

export interface CommandGroup {
  readonly name: string;
  /** One line for shell completion. */
  readonly summary: string;
  readonly description: string;
}

export type SettingsOf<Groups extends OptionGroups> = Intersection<
  { [Title in keyof Groups]: z.output<z.ZodObject<Groups[Title]>> }[keyof Groups]
>;

type Intersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

export function optionSections({ groups }: Pick<Command, "groups">) {
  return Object.entries(groups).map(([title, shape]) => [title, optionSpecs({ shape })] as const);
}

/** Builds a command, with `--config` and `--profile`. The cast is sound: its schema accepts the settings. */
export function defineCommand<Groups extends OptionGroups>(definition: CommandDefinition<Groups>) {
  const groups: Record<string, z.ZodRawShape> = { ...definition.groups };
  if (Object.keys(groups).length > 0) {
    const { config, profile } = cliOptions.shape;
    const title = "Options" in groups ? "Options" : "Run";
    groups[title] = { ...groups[title], config, profile };
  }
  const shape: z.ZodRawShape = Object.assign({}, ...Object.values(groups));
  return {
    ...definition,
    operands: definition.operand ? [definition.operand] : (definition.operands ?? []),
    groups,
    options: z.strictObject(shape),
    run: (call: CommandCall<unknown>) => definition.run(call as CommandCall<SettingsOf<Groups>>),
  };
}

/** @throws UsageError if the number of operands is wrong, or the operand is not allowed */
export function checkOperands(
  command: Pick<Command, "name"> & Partial<Command>,
  given: readonly string[],
): void {
  const { name, operand, operands = [], operandChoices = [] } = command;
  if (operand === undefined) {
    if (operands.length > 0 || given.length === 0) return;
    const message = `${name} takes no arguments; got ${given.join(" ")}`;
    throw new UsageError("too_many_arguments", message);
  }
  const [placeholder, meaning] = operand;
  const [first = ""] = given;
  if (first.trim() === "") {
    throw new UsageError("argument_missing", `${name} needs ${placeholder}: ${meaning}`);
  }
  if (operandChoices.length > 0 && !operandChoices.includes(first)) {
    throw new UsageError("invalid_setting", `${name} needs ${placeholder}; got ${first}`);
  }
  if (given.length === 1) return;
  throw new UsageError(
    "too_many_arguments",
    `${name} takes only ${placeholder}; got ${given.join(" ")}`,
    { hint: "quote an argument that contains spaces" },
  );
}

export function usageOf({ name, usage, operands }: Command): string {
  const terms = operands.map(([term]) => `${term} `).join("");
  return `repute ${name} ${usage ?? `${terms}[flags]`}`;
}

/** Exit codes of a process ended by a signal. */
const signalled = "129, 130, 131, 143";

const commonExitCodes = {
  0: "done, without failures",
  1: "the run could not continue",
  2: "wrong usage or configuration",
  [signalled]: "stopped by SIGHUP, SIGINT, SIGQUIT, SIGTERM",
};

/** Exit code of a command that obeys a quota. */
export const quotaCode = { 75: "stopped early: a quota of --rate is used up" };

/** Exit codes of a command that runs until a signal ends it. */
export const endlessCodes = { 0: "stopped by a signal", [signalled]: null };

/** The exit codes of a command and their meaning, in ascending order. */
export function exitCodesOf({ exitCodes }: Pick<Command, "exitCodes">) {
  const all = Object.entries({ ...commonExitCodes, ...exitCodes });
  return all.flatMap(([code, meaning]) => (meaning === null ? [] : [[code, meaning] as const]));
}
