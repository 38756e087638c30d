import { commandNamed, commandNames, groups, loadCommand, loadCommands } from "../command-list.js";
import { optionSpecs } from "../options/option-spec.js";

type Candidate = readonly [text: string, description: string];

/**
 * Lists completions for the end of a command line, one candidate a line: commands, flags, values of
 * a flag. Nothing where a file is expected. zsh and fish show descriptions beside them.
 *
 * @param words from the program's name to the word under the cursor, which may be empty
 */
export async function complete(words: readonly string[]): Promise<string> {
  const { before, current, prefix } = splitWords(words.slice(1));
  const shell = process.env["SHELL"] ?? "";
  const isZsh = shell.includes("zsh");
  const between = isZsh ? ":" : "\t";
  const isDescribed = isZsh || shell.includes("fish");
  const lines = (await candidates(before, current.startsWith("-"))).map(([text, description]) => {
    const shown = isZsh ? (prefix + text).replaceAll(":", String.raw`\:`) : prefix + text;
    return isDescribed && description !== "" ? shown + between + description : shown;
  });
  return lines.map((line) => `${line}\n`).join("");
}

/** @param before the words before the one under the cursor */
async function candidates(
  before: readonly string[],
  isFlag: boolean,
): Promise<readonly Candidate[]> {
  const command = await loadCommand(commandNamed(before, commandNames));
  const specs = command === null ? [] : optionSpecs(command.options);
  if (isFlag) {
    const flags = specs.flatMap(({ flag, alias, isNegated, description }): Candidate[] => {
      const isGiven = [`--${flag}`, `--no-${flag}`, `-${alias}`].some((each) =>
        before.includes(each),
      );
      if (isGiven) return [];
      return [[isNegated ? `--no-${flag}` : `--${flag}`, description]];
    });
    return [...flags, ["--help", "Explain everything"]];
  }
  if (command !== null) {
    const last = before.at(-1);
    const asked = specs.find(({ flag, alias }) => last === `--${flag}` || last === `-${alias}`);
    const values = command.operandChoices ?? asked?.choices ?? [];
    return values.map((value) => [value, ""]);
  }
  const own = before.map((word) => `${word} `).join("");
  const members = (await loadCommands())
    .filter(({ name }) => name.startsWith(own) && !name.slice(own.length).includes(" "))
    .map(({ name, summary }): Candidate => [name.slice(own.length), summary]);
  if (own !== "") return members;
  return [
    ...members,
    ...groups.map(({ name, summary }): Candidate => [name, summary]),
    ["help", "explain the program or a command"],
    ["version", "print the version"],
  ];
}

/** Splits off the word under the cursor, and the flag from its value in `--flag=value`. */
function splitWords(words: readonly string[]) {
  const typed = words[0] === "help" && words.length > 1 ? words.slice(1) : words;
  const last = typed.at(-1) ?? "";
  const [, flag, value] = /^(--[^=]+)=(.*)$/.exec(last) ?? [];
  if (flag !== undefined && value !== undefined) {
    return { before: [...typed.slice(0, -1), flag], current: value, prefix: `${flag}=` };
  }
  // bash gives `=` as a word of its own.
  const before = typed.slice(0, -1).filter((word) => word !== "=");
  return { before, current: last === "=" ? "" : last, prefix: "" };
}
