import { z } from "zod";
import { option, wholeNumber } from "../../core/options.js";

/** One option of a command, as flags, environment, configuration file and help need it. */
export interface OptionSpec {
  /** Name of the member in its schema, e.g. `itemColumn`. */
  readonly key: string;
  /** Name of the flag without dashes, e.g. `item-column`. */
  readonly flag: string;
  /** Name of the environment variable, e.g. `REPUTE_ITEM_COLUMN`. */
  readonly variable: string;
  /** True for an option that is on or off and takes no value. */
  readonly isSwitch: boolean;
  /** True for a switch that help shows as `--no-…`. */
  readonly isNegated: boolean;
  /** True for an option that may be given several times; its values are joined with commas. */
  readonly repeats: boolean;
  /** True for a flag that `-h` lists. */
  readonly common: boolean;
  /** True for a value that no message may show and no configuration file may hold. */
  readonly secret: boolean;
  /** What stands for the value in the help, e.g. `NAME` or `csv|tsv`; null for a switch. */
  readonly placeholder: string | null;
  /** Short form without its dash, e.g. `o`, or null. */
  readonly alias: string | null;
  /** Every allowed value, where they can be listed; else empty. */
  readonly choices: readonly string[];
  /** The default as a person writes it; null when there is none. */
  readonly defaultText: string | null;
  readonly description: string;
}

/** Reads off a component's schema what its options are called, take and do. */
export function optionSpecs(schema: Pick<z.ZodObject, "shape">): readonly OptionSpec[] {
  return Object.entries(schema.shape).map(([key, member]) => optionSpec(key, member));
}

/** The name that an option has as a flag: `formulaGuard` is `formula-guard`. */
export function flagName(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** The name that an option has in the environment: `item-column` is `REPUTE_ITEM_COLUMN`. */
export function variableName(key: string): string {
  return `REPUTE_${flagName(key).replaceAll("-", "_").toUpperCase()}`;
}

/** How a flag is written to change the default: `--no-header` for a switch that is on. */
export function writtenFlag(spec: OptionSpec): string {
  if (spec.isSwitch) return spec.isNegated ? `--no-${spec.flag}` : `--${spec.flag}`;
  return `--${spec.flag} ${spec.placeholder}`;
}

const shortestList = 24;

function optionSpec(key: string, member: z.core.SomeType): OptionSpec {
  if (!(member instanceof z.ZodType)) throw new TypeError(`option ${key} is no schema`);
  const meta = member.meta() ?? {};
  const { inner, fallback } = unwrap(member);
  const choices = inner instanceof z.ZodEnum ? inner.options.map(String) : [];
  const isSwitch = inner instanceof z.ZodBoolean;
  const list = choices.join("|");
  return {
    key,
    flag: flagName(key),
    variable: variableName(key),
    isSwitch,
    isNegated: fallback === true || meta["negated"] === true,
    repeats: meta["repeats"] === true,
    common: meta["common"] === true,
    secret: meta["secret"] === true,
    placeholder: isSwitch
      ? null
      : list !== "" && list.length <= shortestList
        ? list
        : (textOf(meta["value"]) ?? "VALUE"),
    alias: textOf(meta["alias"]),
    choices,
    defaultText: defaultText(fallback),
    description: textOf(meta["description"]) ?? "",
  };
}

/** The schema inside its wrappers, and the default that they give it. */
function unwrap(schema: z.ZodType): { inner: z.core.SomeType; fallback: unknown } {
  let inner: z.core.SomeType = schema;
  let fallback: unknown;
  for (;;) {
    if (inner instanceof z.ZodDefault || inner instanceof z.ZodPrefault) {
      fallback ??= inner.def.defaultValue;
      inner = inner.def.innerType;
    } else if (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable) {
      inner = inner.def.innerType;
    } else {
      return { inner, fallback };
    }
  }
}

/** Defaults are kept as a person would write them, so that text says it all. */
function defaultText(fallback: unknown): string | null {
  if (fallback === undefined || fallback === null) return null;
  return typeof fallback === "string" ? fallback : JSON.stringify(fallback);
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** Options that belong to the program rather than to one of its components. */
export const cliOptions = z.strictObject({
  local: option(z.boolean().default(false), {
    common: true,
    description:
      "Answer from the embedded service and its sample dataset, started for this run; nothing leaves the machine",
  }),
  synthetic: option(wholeNumber(0, 2 ** 32 - 1).optional(), {
    description:
      "With --local: invent an answer for every item that the dataset does not list; same seed, same answers",
    value: "SEED",
  }),
  json: option(z.boolean().default(false), {
    description: "The summary as one JSON object: on stdout when OUT is a file, else on stderr",
  }),
  quiet: option(z.boolean().default(false), {
    common: true,
    description: "No progress line and no summary; warnings and errors remain",
    alias: "q",
  }),
  config: option(z.string().min(1).optional(), {
    common: true,
    description:
      "Config file: JSON, YAML or TOML; its keys are flags without the dashes [default ~/.config/repute/config.json, .yaml or .toml]",
    value: "FILE",
  }),
  profile: option(z.string().min(1).optional(), {
    description: 'Section below "profiles" in the config file; it overrides the rest of the file',
    value: "NAME",
  }),
});
