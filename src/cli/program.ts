import { enrichCommand } from "./commands/enrich.js";
import { queryCommand } from "./commands/query.js";
import { quickCheckCommand } from "./commands/quick-check.js";
import { serveCommand } from "./commands/serve.js";
import { settingsFromFile } from "./config-file.js";
import { settingsFromEnvironment, unknownVariables } from "./environment.js";
import { commandHelp, programHelp } from "./help.js";
import { optionSpecs } from "./option-spec.js";
import { parseArguments } from "./parse-arguments.js";
import { shownCommand } from "./redact.js";
import { loadSettings } from "./settings.js";
import type { CliContext, Command } from "./command.js";
import type { OptionSpec } from "./option-spec.js";
import type { GivenSettings } from "./settings.js";

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [
  enrichCommand,
  queryCommand,
  quickCheckCommand,
  serveCommand,
];

const widestHelp = 100;

/**
 * Does what the command line asks for and resolves to the exit code.
 *
 * @throws UsageError, FatalError, InterruptedError
 */
export async function runProgram(args: readonly string[], context: CliContext): Promise<number> {
  const parsed = await parseArguments(args, commands);
  if (parsed.wish === "version") {
    context.stdout.write(`${context.version}\n`);
    return 0;
  }
  if (parsed.wish === "help") {
    const width = Math.min(context.stdout.columns ?? 80, widestHelp);
    context.stdout.write(
      parsed.command ? commandHelp(parsed.command, width) : programHelp(commands, width),
    );
    return 0;
  }
  const { command, flags, operands } = parsed;
  const loaded = loadSettings(command.options, await settingLevels(flags, context));
  return command.run({
    settings: loaded.settings,
    loaded,
    operands,
    shownCommand: shownCommand(args),
    context,
  });
}

async function settingLevels(
  flags: GivenSettings,
  context: CliContext,
): Promise<readonly GivenSettings[]> {
  const known = knownOptions();
  for (const warning of unknownVariables(context.env, known)) context.reporter.warning(warning);
  const variables = settingsFromEnvironment(context.env, known);
  const config = flags.get("config") ?? variables.get("config");
  const file = config ? await settingsFromFile(String(config.value), known) : new Map();
  return [flags, variables, file];
}

/** The options of all commands, each once: one environment and one file serve every command. */
function knownOptions(): readonly OptionSpec[] {
  const byKey = new Map<string, OptionSpec>();
  for (const spec of commands.flatMap((command) => optionSpecs(command.options))) {
    if (!byKey.has(spec.key)) byKey.set(spec.key, spec);
  }
  return [...byKey.values()];
}
