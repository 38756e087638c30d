import { z } from "zod";
import { UsageError } from "../../core/errors.js";
import { explainIssue, gotInstead } from "../../core/options.js";

/** Where settings come from, strongest first. */
export const settingLevels = ["flag", "variable", "profile", "file"] as const;

type SettingLevel = (typeof settingLevels)[number];

export interface GivenSetting {
  readonly value: unknown;
  readonly level: SettingLevel;
  /** Its origin in messages: `--retries`, `REPUTE_RETRIES`, `"retries" in config.yaml:3:1`. */
  readonly name: string;
  /** Its place in a config file: `config.yaml:3:1 (profile nightly)`. */
  readonly place?: string;
}

export type GivenSettings = ReadonlyMap<string, GivenSetting>;

export interface LoadedSettings<Settings> {
  readonly settings: Settings;
  /** Origin of each setting that is not a default. */
  readonly given: GivenSettings;
  readonly configFile: string | null;
  readonly profile: string | null;
}

/**
 * Merges levels, strongest first, and validates the result with the command's schema. Wrong values are
 * left out: `fault` lists each with its origin and what is allowed.
 */
export function loadSettings<Schema extends z.ZodObject>(
  schema: Schema,
  levels: readonly GivenSettings[],
) {
  const merged = levels.toReversed().flatMap((level) => Array.from(level));
  const given = new Map(merged.filter(([key]) => key in schema.shape));
  const values = Object.fromEntries([...given].map(([key, setting]) => [key, setting.value]));
  const result = schema.safeParse(values);
  if (result.success) return { settings: result.data, given, fault: null };
  const { issues } = result.error;
  for (const { path } of issues) delete values[String(path[0])];
  const fault = wrongSettings(issues, given, schema);
  return { settings: schema.parse(values), given, fault };
}

function wrongSettings(
  issues: readonly z.core.$ZodIssue[],
  given: GivenSettings,
  schema: z.ZodObject,
): UsageError {
  const secrets = new Set(optionSpecs(schema).flatMap(({ key, secret }) => (secret ? [key] : [])));
  const seen = new Set<string>();
  const lines: string[] = [];
  for (const issue of issues) {
    const key = String(issue.path[0]);
    const setting = given.get(key);
    if (seen.has(key) || !setting) continue;
    seen.add(key);
    const got = secrets.has(key) ? "" : gotInstead(issue, setting.value);
    lines.push(`${setting.name} ${explainIssue(issue)}${got}`);
  }
  const [hint] = issues.flatMap(hintIn);
  return new UsageError("invalid_setting", lines.join("\n"), { hint });
}

function hintIn(issue: z.core.$ZodIssue): readonly string[] {
  const hint: unknown = issue.code === "custom" ? issue.params?.["hint"] : undefined;
  return typeof hint === "string" ? [hint] : [];
}

/** One option of a command: its flag, environment variable, config key and help. */
export type OptionSpec = ReturnType<typeof optionSpec>;

export function optionSpecs(schema: Pick<z.ZodObject, "shape">): readonly OptionSpec[] {
  return Object.entries(schema.shape).map(([key, member]) => optionSpec(key, member));
}

/** The flag of an option: `itemColumn` → `item-column`. */
export function flagName(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** The environment variable of an option: `itemColumn` → `REPUTE_ITEM_COLUMN`. */
export function variableName(key: string): string {
  return `REPUTE_${flagName(key).replaceAll("-", "_").toUpperCase()}`;
}

/** The flag as typed to change the default: `--no-header` for a switch that is on. */
export function writtenFlag(spec: OptionSpec): string {
  if (spec.isSwitch) return spec.isNegated ? `--no-${spec.flag}` : `--${spec.flag}`;
  return `--${spec.flag} ${spec.placeholder}`;
}

/** Longest list of choices shown as a placeholder, in characters. */
const longestList = 24;

function optionSpec(key: string, member: z.core.SomeType) {
  if (!(member instanceof z.ZodType)) throw new TypeError(`option ${key} is not a schema`);
  const meta = member.meta() ?? {};
  const { inner, fallback } = unwrap(member);
  const choices: readonly string[] = inner instanceof z.ZodEnum ? inner.options.map(String) : [];
  const list = choices.join("|");
  const isListed = list !== "" && list.length <= longestList;
  return {
    key,
    flag: flagName(key),
    variable: variableName(key),
    isSwitch: inner instanceof z.ZodBoolean,
    /** Whether the help shows the switch as `--no-…`. */
    isNegated: fallback === true || meta["negated"] === true,
    /** Whether the flag may be repeated: its values are joined with commas, or stay a list. */
    repeats: meta["repeats"] === "list" ? ("list" as const) : meta["repeats"] === true,
    /** Whether the value is never shown and not allowed in config files. */
    secret: meta["secret"] === true,
    /** Stands for the value in the help: `NAME`, `csv|tsv`. */
    placeholder: isListed ? list : (textOf(meta["value"]) ?? "VALUE"),
    /** Short form without its dash. */
    alias: textOf(meta["alias"]),
    choices,
    defaultText: defaultText(fallback),
    description: textOf(meta["description"]) ?? "",
  };
}

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

/** Defaults in schemas are written as typed on a command line. */
function defaultText(fallback: unknown): string | null {
  if (fallback === undefined || fallback === null) return null;
  return typeof fallback === "string" ? fallback : JSON.stringify(fallback);
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
