import { UsageError } from "../../core/errors.js";
import type { OptionSpec } from "./option-spec.js";

/** Stands for a lone dash while the parser reads: it would lose one. No argument can hold a NUL itself. */
const dash = "\u0000-";

/**
 * Rewrites what yargs' parser would misread: a lone `-` (stdin, stdout) and a value joined to a short flag
 * (`-oFILE`).
 *
 * @throws UsageError for a switch with a value that is neither true nor false, which the parser takes for false
 */
export function normaliseArguments(
  args: readonly string[],
  specs: readonly OptionSpec[],
): readonly string[] {
  const end = args.indexOf("--");
  const flagsEnd = end === -1 ? args.length : end;
  return args.map((arg, index) => {
    if (arg === "-") return dash;
    if (index >= flagsEnd || !arg.startsWith("-")) return arg;
    return arg.startsWith("--") ? checkSwitch(arg, specs) : splitShort(arg, specs);
  });
}

/** Gives a lone dash back. */
export function restoreDash(text: string): string {
  return text === dash ? "-" : text;
}

function checkSwitch(arg: string, specs: readonly OptionSpec[]): string {
  const [, name, value] = /^--(?:no-)?([^=]+)=(.*)$/s.exec(arg) ?? [];
  const spec = specs.find((spec) => spec.flag === name);
  if (!spec?.isSwitch || value === "true" || value === "false") return arg;
  throw new UsageError(
    "invalid_setting",
    `--${spec.flag} takes no value; got ${JSON.stringify(value)}`,
    {
      hint: `write --${spec.flag} or --no-${spec.flag}`,
    },
  );
}

function splitShort(arg: string, specs: readonly OptionSpec[]): string {
  const spec = specs.find((spec) => spec.alias === arg[1]);
  if (!spec || spec.isSwitch || arg.length === 2 || arg[2] === "=") return arg;
  return `--${spec.flag}=${arg.slice(2)}`;
}
