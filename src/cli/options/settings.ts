import type { z } from "zod";
import { UsageError } from "../../core/errors.js";
import { explainIssue, nearestAllowed } from "../../core/options.js";
import { optionSpecs } from "./option-spec.js";
import { redactAddress } from "../../core/redaction.js";

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
  readonly secret?: boolean;
}

export type GivenSettings = ReadonlyMap<string, GivenSetting>;

export interface LoadedSettings<Settings> {
  readonly settings: Settings;
  /** Origin of each setting that is not a default. */
  readonly given: GivenSettings;
  /** Given settings that only other commands use. */
  readonly others: GivenSettings;
  readonly configFile: string | null;
  readonly profile: string | null;
}

/**
 * Merges levels, strongest first, and validates the result with the command's schema.
 *
 * @throws UsageError that lists every wrong value, its origin and what is allowed
 */
export function loadSettings<Schema extends z.ZodObject>(
  schema: Schema,
  levels: readonly GivenSettings[],
): Omit<LoadedSettings<z.output<Schema>>, "configFile" | "profile"> {
  const merged = [...new Map(levels.toReversed().flatMap((level) => Array.from(level)))];
  const given = new Map(merged.filter(([key]) => key in schema.shape));
  const others = new Map(merged.filter(([key]) => !given.has(key)));
  const values = Object.fromEntries([...given].map(([key, setting]) => [key, setting.value]));
  const result = schema.safeParse(values);
  if (!result.success) throw wrongSettings(result.error.issues, given, schema);
  return { settings: result.data, given, others };
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
    const got = secrets.has(key)
      ? ""
      : `; got ${shown(setting.value)}${nearestAllowed(issue, setting.value)}`;
    lines.push(`${setting.name} ${explainIssue(issue)}${got}`);
  }
  const [hint] = issues.flatMap(hintIn);
  return new UsageError("invalid_setting", lines.join("\n"), { hint });
}

function hintIn(issue: z.core.$ZodIssue): readonly string[] {
  const hint: unknown = issue.code === "custom" ? issue.params?.["hint"] : undefined;
  return typeof hint === "string" ? [hint] : [];
}

const longestShown = 80;

/** The query or fragment of an address may contain a key. */
const afterPath = /^("https?:\/\/[^?#"]*[?#])[^"]+/i;

function shown(value: unknown): string {
  const text = redactAddress(JSON.stringify(value) ?? String(value)).replace(afterPath, "$1…");
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text;
}
