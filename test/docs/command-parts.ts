import { groups, inSections, membersOf } from "../../src/cli/command-list.js";
import {
  type Command,
  exitCodesOf,
  optionSections,
  quotaCode,
  usageOf,
} from "../../src/cli/command.js";
import type { OptionSpec } from "../../src/cli/options/option-spec.js";
import { capitalised, table } from "../helpers/markdown.js";
import { optionRow, type OptionRow, optionTable } from "../helpers/option-table.js";

const commonCodes = exitCodesOf({ exitCodes: quotaCode });

/** The generated parts of the page on commands. */
export function commandParts(commands: readonly Command[]): Readonly<Record<string, string>> {
  const shared = sharedFlags(commands);
  const sections = inSections(commands);
  return {
    "command-list": table(
      ["Command", "What it does"],
      sections.flatMap(([title, members]) =>
        [[`**${title}**`, ""]].concat(
          members.map(({ name, summary }) => [
            `[\`repute ${name}\`](#repute-${name.replace(" ", "-")})`,
            capitalised(summary),
          ]),
        ),
      ),
    ),
    "common-exit-codes": table(
      ["Code", "Meaning"],
      commonCodes.map(([code, meaning]) => [code, capitalised(meaning)]),
    ),
    "shared-flags": sharedText(shared),
    commands: sections.map(([title, members]) => sectionText(title, members, shared)).join("\n\n"),
  };
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

/** Each shared flag once, under the section of the first command that has it; the rare ones last. */
function sharedText(shared: ReadonlyMap<string, SharedFlag>): string {
  const all = [...shared.values()].sort((a, b) => Number(a.spec.rare) - Number(b.spec.rare));
  const firsts = all.filter(
    ({ spec }, at) => all.findIndex((other) => other.spec.flag === spec.flag) === at,
  );
  const rows = [...new Set(firsts.map(({ section }) => section))].flatMap((section) => {
    const own = firsts.filter((each) => each.section === section);
    return [[`**${section}**`, "", ""] as OptionRow].concat(
      own.map(({ spec }) => sharedRow(all.filter((each) => each.spec.flag === spec.flag))),
    );
  });
  return optionTable(rows);
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

function sectionText(
  title: string,
  members: readonly Command[],
  shared: ReadonlyMap<string, SharedFlag>,
): string {
  const itsGroups = groups.filter(({ name }) => membersOf(name, members).length > 0);
  return [
    `## ${title}`,
    ...itsGroups.flatMap(({ description }) => description),
    ...members.flatMap((command) => commandText(command, shared)),
  ].join("\n\n");
}

function commandText(command: Command, shared: ReadonlyMap<string, SharedFlag>): readonly string[] {
  const { name, description, operands = [], examples } = command;
  const specs = optionSections(command).flatMap(([, specs]) => specs);
  const own = specs.filter((spec) => !shared.has(meaningOf(spec)));
  const others = specs.filter((spec) => shared.has(meaningOf(spec)));
  return [
    `### repute ${name}`,
    [
      `\`${usageOf(command)}\``,
      description.join(" "),
      `[Exit codes](#exit-codes): ${codesText(command)}`,
    ].join("<br>"),
    ...(own.length === 0 ? [] : [optionTable(own.map(optionRow))]),
    [
      ...operands.map(([term, text]) => `- \`${term}\`: ${text}`),
      ...(others.length === 0
        ? []
        : [`- [Shared flags](#flags-of-several-commands): ${others.map(flagCode).join(", ")}`]),
      ...Object.entries(examples).map(([line, what]) => `- \`${line}\`<br>${capitalised(what)}.`),
    ].join("\n"),
  ];
}

function flagCode({ flag, isNegated }: OptionSpec): string {
  return `\`--${isNegated ? "no-" : ""}${flag}\``;
}

/** The codes of a command, with their meaning where it differs from the common one. */
function codesText(command: Command): string {
  const isCommon = ([code, meaning]: readonly [string, string]): boolean =>
    commonCodes.some((common) => common[0] === code && common[1] === meaning);
  return exitCodesOf(command)
    .map((each) => (isCommon(each) ? each[0] : `${each[0]} (${each[1]})`))
    .join(", ");
}
