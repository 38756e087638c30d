import type { z } from "zod";
import { didYouMean } from "../../core/did-you-mean.js";
import { UsageError } from "../../core/errors.js";
import { allowedWords, explainIssue } from "../../core/option-issue.js";
import { optionSpecs } from "./option-spec.js";
import { redactAddress } from "./redact.js";

/** The places that settings come from, the strongest first. */
export const settingLevels = ["flag", "variable", "file"] as const;

export type SettingLevel = (typeof settingLevels)[number];

/** A setting as it was given, and where. */
export interface GivenSetting {
  readonly value: unknown;
  readonly level: SettingLevel;
  /** How the place is named in a message: `--retries`, `REPUTE_RETRIES`, `"retries" in repute.json`. */
  readonly name: string;
}

/** Settings given at one level, by the option's key. */
export type GivenSettings = ReadonlyMap<string, GivenSetting>;

export interface LoadedSettings<Settings> {
  readonly settings: Settings;
  /** Where a setting came from; undefined for a default. */
  readonly given: GivenSettings;
}

/**
 * Merges what was given, the strongest level first, and checks it with the command's own schema.
 *
 * @throws UsageError that names every place with a wrong value, the value and what is allowed
 */
export function loadSettings<Schema extends z.ZodObject>(
  schema: Schema,
  levels: readonly GivenSettings[],
): LoadedSettings<z.output<Schema>> {
  const given = new Map<string, GivenSetting>();
  for (const level of levels) {
    for (const [key, setting] of level) {
      if (key in schema.shape && !given.has(key)) given.set(key, setting);
    }
  }
  const values = Object.fromEntries([...given].map(([key, setting]) => [key, setting.value]));
  const result = schema.safeParse(values);
  if (!result.success) throw wrongSettings(result.error.issues, given, schema);
  return { settings: result.data, given };
}

function wrongSettings(
  issues: readonly z.core.$ZodIssue[],
  given: GivenSettings,
  schema: z.ZodObject,
): UsageError {
  const secrets = new Set(optionSpecs(schema).flatMap(({ key, secret }) => (secret ? [key] : [])));
  const told = new Set<string>();
  const lines: string[] = [];
  for (const issue of issues) {
    const key = String(issue.path[0]);
    const setting = given.get(key);
    if (told.has(key) || !setting) continue;
    told.add(key);
    const got = secrets.has(key)
      ? ""
      : `; got ${shown(setting.value)}${near(issue, setting.value)}`;
    lines.push(`${setting.name} ${explainIssue(issue)}${got}`);
  }
  return new UsageError("invalid_setting", lines.join("\n"));
}

function near(issue: z.core.$ZodIssue, value: unknown): string {
  if (typeof value !== "string") return "";
  const word = didYouMean(value, allowedWords(issue));
  return word === null ? "" : ` (did you mean ${word}?)`;
}

const longestShown = 80;

/** The query or fragment of an address, which may hold a key. */
const behindPath = /^("https?:\/\/[^?#"]*[?#])[^"]+/i;

function shown(value: unknown): string {
  const text = redactAddress(JSON.stringify(value) ?? String(value)).replace(behindPath, "$1…");
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text;
}
