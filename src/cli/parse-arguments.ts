import yargs from "yargs";
import type { Arguments, Options } from "yargs";
import { UsageError } from "../core/errors.js";
import { checkFlags } from "./check-flags.js";
import { findCommand } from "./find-command.js";
import { normaliseArguments, restoreDash } from "./normalise-arguments.js";
import { optionSpecs } from "./option-spec.js";
import type { Command, CommandGroup } from "./command.js";
import type { OptionSpec } from "./option-spec.js";
import type { GivenSettings } from "./settings.js";

/** What the command line asks for. */
export type ParsedArguments =
  | { readonly wish: "help"; readonly command: Command | null }
  | { readonly wish: "group help"; readonly group: CommandGroup }
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
  groups: readonly CommandGroup[] = [],
): Promise<ParsedArguments> {
  const [first] = args;
  if (first === undefined || first === "--help" || first === "-h") {
    return { wish: "help", command: null };
  }
  if (first === "--version" || first === "-V") return { wish: "version" };
  const asksHelp = first === "help";
  if (asksHelp && args.length === 1) return { wish: "help", command: null };
  const found = findCommand(asksHelp ? args.slice(1) : args, commands, groups);
  if (found.is === "group") return { wish: "group help", group: found.group };
  const { command } = found;
  if (asksHelp) return { wish: "help", command };
  const specs = optionSpecs(command.options);
  const argv = await readFlags(normaliseArguments(args.slice(found.words), specs), specs);
  const { _: operands, $0: _program, help, version, ...flags } = argv;
  if (help === true) return { wish: "help", command };
  if (version === true) return { wish: "version" };
  return {
    wish: "run",
    command,
    flags: checkFlags(flags, { args, command, specs, commands }),
    operands: operands.map((word) => restoreDash(String(word))),
  };
}

/** Without a command of yargs' own: before it hands over to one it lays its help out, for 40 ms. */
async function readFlags(
  args: readonly string[],
  specs: readonly OptionSpec[],
): Promise<Arguments<Record<string, unknown>>> {
  return yargs(args)
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
    .options(yargsOptions(specs))
    .parseAsync();
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
