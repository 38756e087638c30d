import { inSections, membersOf } from "../command-list.js";
import { type Command, type CommandGroup, exitCodesOf } from "../command.js";
import { secrets } from "../options/secrets.js";
import { helpPage } from "./yargs-parser.js";
import { labelled, labelledText, wrapLines, wrapText } from "../../core/wording/printable.js";

/** @param topic what to explain; null for the program */
export async function helpText(
  topic: Command | CommandGroup | null,
  commands: readonly Command[],
  width: number,
): Promise<string> {
  if (topic === null || !("run" in topic)) return overview(topic, commands, width);
  return commandHelp(topic, width);
}

const programDescription =
  "Enriches files of indicators (IP addresses, domains, URLs, hashes, wallets, e-mail addresses) with their reputation " +
  "from a threat intelligence service. Each input row becomes one output row, with the answer in added columns.";

const firstCommands: Entries = [
  ["repute enrich FILE -o out.csv --local", "try it; nothing leaves this machine"],
  ["repute query 192.0.2.1 --local", "look up one item"],
  ["repute doctor --local", "check this machine and the settings"],
];

/** Help for a command group, or for the whole program if `group` is null. */
function overview(group: CommandGroup | null, commands: readonly Command[], width: number): string {
  const members = group === null ? commands : membersOf(group.name, commands);
  const column = Math.max(...members.map(({ name }) => name.length)) + 4;
  const lists = inSections(members).map(([title, list]) =>
    section(
      title,
      list.map(({ name, summary }) => labelledText(`  ${name}`, summary, column, width)).join("\n"),
    ),
  );
  const prefix = group === null ? "" : `${group.name} `;
  return page([
    wrapLines(`Usage: repute ${prefix}COMMAND [flags] [arguments]`, width),
    wrapText(group?.description ?? programDescription, width),
    ...lists,
    examples(
      group === null
        ? firstCommands
        : members.flatMap((member) => Object.entries(member.examples).slice(0, 1)),
      width,
    ),
    wrapText(`\`repute ${prefix}COMMAND --help\` explains a command.`, width),
  ]);
}

async function commandHelp(command: Command, width: number): Promise<string> {
  const twoColumns = (entries: Entries): string => labelled(entries, width, "  ");
  return page([
    await helpPage(command, width),
    section("Exit codes", twoColumns(exitCodesOf(command))),
    section("Environment", twoColumns(variablesOf(command))),
    wrapText(settingsOrder, width),
    examples(Object.entries(command.examples), width),
  ]);
}

type Entries = readonly (readonly [term: string, meaning: string])[];

function section(title: string, body: string): string {
  return `${title}:\n${body}`;
}

/** Commands to copy, each on one line: yargs would wrap long ones. */
function examples(list: Entries, width: number): string {
  const lines = list.map(([line, meaning]) => labelledText(`  ${line}`, meaning, 6, width));
  return section("Examples", lines.join("\n"));
}

const settingsOrder =
  "Flags override variables, variables override the config file (--config FILE, else ~/.config/repute/config.yaml), and the config file overrides the defaults.";

function variablesOf({ options, variables = {} }: Command): Entries {
  const keys = Object.values(secrets)
    .filter(({ fileKey }) => fileKey in options.shape)
    .map(({ variable, meaning }) => [variable, meaning] as const);
  return [
    ...keys,
    ...Object.entries(variables),
    [
      "REPUTE_…",
      "every flag has a variable: --item-column is REPUTE_ITEM_COLUMN, --no-header is REPUTE_HEADER=false",
    ],
    ["NO_COLOR", "1: no colours; FORCE_COLOR=1: colours in pipes and files, too"],
  ];
}

function page(parts: readonly string[]): string {
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}
