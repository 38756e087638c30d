import yargs from "yargs";
import type { Arguments, Options } from "yargs";
import { didYouMean } from "../core/did-you-mean.js";
import { UsageError } from "../core/errors.js";
import { checkFlags } from "./check-flags.js";
import { normaliseArguments, restoreDash } from "./normalise-arguments.js";
import { optionSpecs } from "./option-spec.js";
import type { Command } from "./command.js";
import type { OptionSpec } from "./option-spec.js";
import type { GivenSettings } from "./settings.js";

/** What the command line asks for. */
export type ParsedArguments =
  | { readonly wish: "help"; readonly command: Command | null }
  | { readonly wish: "version" }
  | {
      readonly wish: "run";
      readonly command: Command;
      readonly flags: GivenSettings;
      readonly operands: readonly string[];
    };

/**
 * Reads the command line. Values are left as text: the command's schema judges them.
 *
 * @throws UsageError for an unknown command or flag, a flag without its value or given twice
 */
export async function parseArguments(
  args: readonly string[],
  commands: readonly Command[],
): Promise<ParsedArguments> {
  const [first, second] = args;
  if (first === undefined || first === "--help" || first === "-h") {
    return { wish: "help", command: null };
  }
  if (first === "--version" || first === "-V") return { wish: "version" };
  if (first === "help") {
    return { wish: "help", command: second === undefined ? null : named(second, commands) };
  }
  const command = named(first, commands);
  const specs = optionSpecs(command.options);
  const argv = await readFlags(normaliseArguments(args, specs), command, specs);
  const { _: words, $0: _program, help, version, ...flags } = argv;
  if (help === true) return { wish: "help", command };
  if (version === true) return { wish: "version" };
  return {
    wish: "run",
    command,
    flags: checkFlags(flags, { args, command, specs, commands }),
    operands: words.slice(1).map((word) => restoreDash(String(word))),
  };
}

/** Finds a command by its name. */
function named(name: string, commands: readonly Command[]): Command {
  const command = commands.find((command) => command.name === name);
  if (command) return command;
  if (name.startsWith("-")) {
    throw new UsageError("command_missing", `${name} stands where the command should be`, {
      hint: `the command comes first: repute ${commands[0]?.name ?? "COMMAND"} ${name} …`,
    });
  }
  const names = commands.map((command) => command.name);
  const word = didYouMean(name, names);
  throw new UsageError("unknown_command", `there is no command ${JSON.stringify(name)}`, {
    hint:
      word === null
        ? `the commands are ${names.join(", ")}; a file is read by: repute enrich FILE`
        : `did you mean ${word}?`,
  });
}

async function readFlags(
  args: readonly string[],
  command: Command,
  specs: readonly OptionSpec[],
): Promise<Arguments<Record<string, unknown>>> {
  let argv: Arguments<Record<string, unknown>> = { _: [command.name], $0: "repute" };
  await yargs(args)
    .scriptName("repute")
    .locale("en")
    .help(false)
    .version(false)
    .exitProcess(false)
    .parserConfiguration({
      "camel-case-expansion": false,
      "dot-notation": false,
      "parse-numbers": false,
      "parse-positional-numbers": false,
      "strip-aliased": true,
    })
    .fail((message: string | null, error: Error | undefined) => {
      throw error ?? new UsageError("arguments_unreadable", message ?? "cannot read the arguments");
    })
    .command({
      command: command.name,
      describe: command.summary,
      builder: yargsOptions(specs),
      handler: (found: Arguments<Record<string, unknown>>) => {
        argv = found;
      },
    })
    .parseAsync();
  return argv;
}

function yargsOptions(specs: readonly OptionSpec[]): Record<string, Options> {
  const options: Record<string, Options> = {
    help: { type: "boolean", alias: "h" },
    version: { type: "boolean", alias: "V" },
  };
  for (const spec of specs) {
    options[spec.flag] = {
      type: spec.isSwitch ? "boolean" : "string",
      ...(spec.alias === null ? {} : { alias: spec.alias }),
    };
  }
  return options;
}
