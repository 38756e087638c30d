import { flagName, variableName } from "../options/option-spec.js";

export interface EarlyOptions {
  readonly alias?: string;
  /** Value of a flag without one: "true" for a switch. @default none */
  readonly bare?: string;
}

/**
 * The value of an option before the command line is parsed, so that its errors appear as asked: of
 * its flag, else of its variable; undefined if there is none.
 */
export function earlySetting(
  key: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  { alias, bare }: EarlyOptions = {},
): string | undefined {
  const flag = `--${flagName(key)}`;
  const end = args.indexOf("--");
  const flags = end === -1 ? args : args.slice(0, end);
  for (const [index, arg] of flags.entries()) {
    if (arg === flag || arg === `-${alias}`) {
      const next = flags[index + 1];
      return next === undefined || (next.startsWith("-") && next !== "-") ? bare : next;
    }
    if (arg.startsWith(`${flag}=`)) return arg.slice(flag.length + 1);
    if (alias !== undefined && /^-[^-]./.test(arg) && arg[1] === alias) {
      return arg.slice(2).replace(/^=/, "");
    }
  }
  return env[variableName(key)] || undefined;
}

/** Whether an early setting turns a switch on. */
export function isOn(value: string | undefined): boolean {
  return value !== undefined && !/^(?:false|0|no|off)$/i.test(value.trim());
}
