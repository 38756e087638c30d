import { inSections } from "../../src/cli/command-list.js";
import {
  type Command,
  exitCodesOf,
  optionSections,
  quotaCode,
  usageOf,
} from "../../src/cli/command.js";
import type { OptionSpec } from "../../src/cli/options/settings.js";
import { capitalised, table } from "../helpers/markdown.js";
import { optionRow, type OptionRow, optionTable } from "../helpers/option-table.js";

const commonCodes = exitCodesOf({ exitCodes: quotaCode });

/** The generated parts of the page on commands. */
export function commandParts(commands: readonly Command[]): Readonly<Record<string, string>> {
  const shared = sharedFlags(commands);
  const sections = inSections(commands);
  const textOf = ([title, members]: (typeof sections)[number]): readonly string[] => [
    `## ${title}`,
    ...members.flatMap((command) => commandText(command, shared)),
  ];
  return {
    "command-list": sections
      .map(([title, members]) => `- **${title}**: ${members.map(commandLink).join(", ")}`)
      .join("\n"),
    "common-exit-codes": table(
      ["Code", "Meaning"],
      commonCodes.map(([code, meaning]) => [code, capitalised(meaning)]),
    ),
    "shared-flags": optionTable(
      sharedSections(shared).flatMap(([section, flags]) =>
        [[`**${section}**`, "", ""] as OptionRow].concat(flags.map(sharedRow)),
      ),
    ),
    commands: sections.flatMap(textOf).join("\n\n"),
  };
}

function commandLink({ name }: Command): string {
  return `[\`${name}\`](#repute-${name.replace(" ", "-")})`;
}

/** A flag that commands have with the same meaning. */
interface SharedFlag {
  readonly section: string;
  readonly spec: OptionSpec;
  /** Names of the commands. */
  readonly of: readonly string[];
}

/** The flags that more than one command has, by their meaning. */
function sharedFlags(commands: readonly Command[]): ReadonlyMap<string, SharedFlag> {
  const found = new Map<string, SharedFlag>();
  for (const command of commands) {
    for (const [section, specs] of optionSections(command)) {
      for (const spec of specs) {
        const { of, ...first } = found.get(meaningOf(spec)) ?? { section, spec, of: [] };
        found.set(meaningOf(spec), { ...first, of: [...of, command.name] });
      }
    }
  }
  return new Map([...found].filter(([, { of }]) => of.length > 1));
}

function meaningOf(spec: OptionSpec): string {
  return optionRow(spec).join("\n");
}

/** The meanings of each shared flag, in the section of the first command that has it. */
function sharedSections(
  shared: ReadonlyMap<string, SharedFlag>,
): readonly (readonly [section: string, flags: readonly (readonly SharedFlag[])[]])[] {
  const all = [...shared.values()];
  const firsts = all.filter(
    ({ spec }, at) => all.findIndex((other) => other.spec.flag === spec.flag) === at,
  );
  return [...new Set(firsts.map(({ section }) => section))].map((section) => [
    section,
    firsts
      .filter((first) => first.section === section)
      .map(({ spec }) => all.filter((each) => each.spec.flag === spec.flag)),
  ]);
}

/** The row of a flag. Of several meanings, the one that most commands have comes first. */
function sharedRow(meanings: readonly SharedFlag[]): OptionRow {
  const [most, ...others] = meanings.toSorted((a, b) => b.of.length - a.of.length);
  const [flag, fallback, meaning] = optionRow(most!.spec);
  const more = others.map(
    ({ spec, of }) => `<br>In ${of.map((name) => `\`${name}\``).join(", ")}: ${optionRow(spec)[2]}`,
  );
  return [flag, fallback, [meaning, ...more].join("")];
}

function commandText(command: Command, shared: ReadonlyMap<string, SharedFlag>): readonly string[] {
  const { name, summary, operands } = command;
  const specs = optionSections(command).flatMap(([, specs]) => specs);
  const own = specs.filter((spec) => !shared.has(meaningOf(spec)));
  const others = specs.filter((spec) => shared.has(meaningOf(spec)));
  return [
    `### repute ${name}`,
    [
      `${capitalised(summary)}.`,
      `\`${usageOf(command)}\``,
      ...operands.map(([term, text]) => `\`${term}\`: ${text}`),
      ...ownCodes(command),
      ...(others.length === 0 ? [] : [`Shared flags: ${sharedNames(others, shared).join(", ")}`]),
    ].join("<br>"),
    ...(own.length === 0 ? [] : [optionTable(own.map(optionRow))]),
  ];
}

/** Shared flags of a command: the sections that it has whole, then the others by name. */
function sharedNames(
  specs: readonly OptionSpec[],
  shared: ReadonlyMap<string, SharedFlag>,
): readonly string[] {
  const taken = new Set(specs.map(({ flag }) => flag));
  const whole = sharedSections(shared)
    .map(([section, flags]) => [section, flags.map(([first]) => first!.spec.flag)] as const)
    .filter(([, flags]) => flags.length > 1 && flags.every((flag) => taken.has(flag)));
  const named = new Set(whole.flatMap(([, flags]) => flags));
  const others = specs.filter(({ flag }) => !named.has(flag));
  return [...whole.map(([section]) => `**${section}**`), ...others.map(flagCode)];
}

function flagCode({ flag, isNegated }: OptionSpec): string {
  return `\`--${isNegated ? "no-" : ""}${flag}\``;
}

/** The codes of a command whose meaning differs from the common one. */
function ownCodes(command: Command): readonly string[] {
  const own = exitCodesOf(command).filter(
    ([code, meaning]) => !commonCodes.some((common) => common[0] === code && common[1] === meaning),
  );
  if (own.length === 0) return [];
  return [`Exit codes: ${own.map(([code, meaning]) => `${code} (${meaning})`).join(", ")}`];
}
