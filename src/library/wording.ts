import { schemas } from "./options.js";

const shapes = { ...schemas.tagList.shape, ...schemas.file.shape, ...schemas.client.shape };

/** Flags and variables of the program → options of the library; a switch as it is typed here. */
const names = new Map([
  ...Object.entries(shapes).flatMap(([key, schema]) => {
    const flag = key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const isSwitch = schema.safeParse(true).success;
    const written = [`--${flag}`, isSwitch ? `${key}: true` : key] as const;
    return isSwitch ? [written, [`--no-${flag}`, `${key}: false`] as const] : [written];
  }),
  ["--intel-url", "url"],
  ["-o", "output"],
  ["REPUTE_API_KEY", "apiKey"],
  ["REPUTE_ACCESS_TOKEN", "accessToken"],
  ["REPUTE_CASE_API_KEY", "caseApiKey"],
]);

/** Other than a file with a secret, a command of the shell stays as it is. */
const word = / \([^()]*--[\w-]+-file[^()]*\)|repute [a-z][^;\n]*|(?:--?[a-z][a-z-]*|REPUTE_\w+)/g;

/** A message of the program for callers of the library: `--item-column` is `itemColumn`. */
export function inOptions(text: string): string {
  return text.replaceAll(word, (found) => (found[0] === " " ? "" : (names.get(found) ?? found)));
}
