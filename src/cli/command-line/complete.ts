import { commandNamed, loadCommand, loadCommands } from "../command-list.js";
import { candidates } from "./program.js";

/**
 * Lists completions for the end of a command line, one candidate a line: commands, flags, values of
 * a flag. Nothing where a file is expected. zsh and fish show descriptions beside them.
 *
 * @param words from the program's name to the word under the cursor, which may be empty
 */
export async function complete(words: readonly string[]): Promise<string> {
  const { typed, current, prefix } = splitWords(words);
  const command = await loadCommand(commandNamed(typed.slice(1, -1)));
  const found = candidates(typed, command === null ? await loadCommands() : [command]);
  const isTop = typed.length <= 2;
  // yargs offers flags where a file is expected, and a short form as a flag of its own.
  const offered = current.startsWith("-")
    ? found.filter((line) => /^--\w\w/.test(line))
    : [...found.filter((line) => !line.startsWith("-")), ...(command?.operandChoices ?? [])];
  const all = isTop ? [...offered, "help", "version"] : offered;
  return all.map((line) => (line === "" ? "" : `${prefix}${line}\n`)).join("");
}

/** Splits off the flag from its value in `--flag=value`. */
function splitWords(words: readonly string[]) {
  // bash gives `=` as a word of its own.
  const all = words.filter((word, at) => word !== "=" || at === words.length - 1);
  const last = all.at(-1) ?? "";
  const [, flag, value] = /^(--[^=]+)=(.*)$/.exec(last) ?? [];
  if (flag === undefined || value === undefined) {
    const current = last === "=" ? "" : last;
    return { typed: [...all.slice(0, -1), current], current, prefix: "" };
  }
  return { typed: [...all.slice(0, -1), flag, value], current: value, prefix: `${flag}=` };
}
