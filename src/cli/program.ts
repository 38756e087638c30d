import { cacheClearCommand } from "./commands/cache-clear.js";
import { cachePruneCommand } from "./commands/cache-prune.js";
import { cacheStatsCommand } from "./commands/cache-stats.js";
import { caseContextCommand } from "./commands/case-context.js";
import { caseEnrichCommand } from "./commands/case-enrich.js";
import { caseShowCommand } from "./commands/case-show.js";
import { customersCommand } from "./commands/customers.js";
import { enrichCommand } from "./commands/enrich.js";
import { planCommand } from "./commands/plan.js";
import { queryCommand } from "./commands/query.js";
import { quickCheckCommand } from "./commands/quick-check.js";
import { retryCommand } from "./commands/retry.js";
import { schemaCommand } from "./commands/schema.js";
import { serveCommand } from "./commands/serve.js";
import { tagsExportCommand } from "./commands/tags-export.js";
import { tagsIpsCommand } from "./commands/tags-ips.js";
import { tagsListCommand } from "./commands/tags-list.js";
import { tagsShowCommand } from "./commands/tags-show.js";
import { verifyCommand } from "./commands/verify.js";
import { webhookCheckCommand } from "./commands/webhook-check.js";
import { webhookSendCommand } from "./commands/webhook-send.js";
import { settingsFromFile } from "./config-file.js";
import { settingsFromEnvironment, unknownVariables } from "./environment.js";
import { commandHelp, groupHelp, programHelp } from "./help.js";
import { optionSpecs } from "./option-spec.js";
import { parseArguments } from "./parse-arguments.js";
import { shownCommand } from "./redact.js";
import { loadSettings } from "./settings.js";
import type { CliContext, Command, CommandGroup } from "./command.js";
import type { OptionSpec } from "./option-spec.js";
import type { GivenSettings } from "./settings.js";

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [
  enrichCommand,
  planCommand,
  retryCommand,
  verifyCommand,
  queryCommand,
  quickCheckCommand,
  tagsListCommand,
  tagsShowCommand,
  tagsIpsCommand,
  tagsExportCommand,
  customersCommand,
  caseShowCommand,
  caseContextCommand,
  caseEnrichCommand,
  webhookCheckCommand,
  webhookSendCommand,
  cacheStatsCommand,
  cachePruneCommand,
  cacheClearCommand,
  schemaCommand,
  serveCommand,
];

/** Commands that share their first word, by that word. */
export const groups: readonly CommandGroup[] = [
  {
    name: "tags",
    description: [
      "Tags name known kinds of threat activity, as <group>:<name>. Each has a description and a list of the IP addresses that it was seen from.",
    ],
  },
  {
    name: "case",
    description: [
      "A reputation-share case gathers the events of one customer. Its context, kept by the case management instance, is what the payloads of webhooks are filled in from.",
    ],
  },
  {
    name: "webhook",
    description: [
      "A webhook is a call that the case management product makes when a case changes its state. Its configuration is a JSON file with name, endpoint, method, path and payload; strings such as {{ s.resolver_data.CustomerEmail }} in the payload are filled in from the context of the case.",
    ],
  },
  {
    name: "cache",
    description: [
      "A cache keeps answers for later runs, in a folder that runs are given with --cache. It may be removed at any time: what is not there is asked for again.",
    ],
  },
];

const widestHelp = 100;

function helpWidth({ stdout }: CliContext): number {
  return Math.min(stdout.columns || 80, widestHelp);
}

/**
 * Does what the command line asks for and resolves to the exit code.
 *
 * @throws UsageError, FatalError, InterruptedError
 */
export async function runProgram(args: readonly string[], context: CliContext): Promise<number> {
  const parsed = await parseArguments(args, commands, groups);
  if (parsed.wish === "version") {
    context.stdout.write(`${context.version}\n`);
    return 0;
  }
  if (parsed.wish === "help") {
    const { command } = parsed;
    const width = helpWidth(context);
    context.stdout.write(command ? commandHelp(command, width) : programHelp(commands, width));
    return 0;
  }
  if (parsed.wish === "group help") {
    context.stdout.write(groupHelp(parsed.group, commands, helpWidth(context)));
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
