import { didYouMean } from "../../core/text/did-you-mean.js";
import { UsageError } from "../../core/errors.js";
import type { JsonObject } from "../../core/finding.js";
import { readPath } from "../../core/files/read-path.js";
import { asObject } from "../../core/json-members.js";
import { parseYaml, type YamlText } from "../../core/text/yaml-text.js";
import { fileFault } from "../terminal/reporter.js";
import type { OptionSpec } from "./option-spec.js";
import { secretHint, secretNamed } from "./secrets.js";
import type { GivenSetting, GivenSettings } from "./settings.js";

interface FileSettings {
  /** Those of the selected profile; empty without one. */
  readonly profile: GivenSettings;
  /** Those outside `profiles`. */
  readonly general: GivenSettings;
}

/**
 * Reads a config file: YAML (so JSON too) with flags' names as keys, without dashes or in camel
 * case. `profiles` holds more such settings by the profile's name. Every key is checked, also in
 * profiles that are not selected.
 *
 * @param known the options of every command, since one file serves them all
 * @param profile the setting that selects a profile; null for none
 * @throws UsageError when the file cannot be read or parsed, has an unknown key or no such profile
 */
export async function settingsFromFile(
  path: string,
  known: readonly OptionSpec[],
  profile: GivenSetting | null,
  signal?: AbortSignal,
): Promise<FileSettings> {
  const document = parseConfig(path, await readText(path, signal));
  const file: ConfigFile = { path, document, known };
  // An empty file sets nothing.
  const { profiles: section = {}, ...rest } = membersOf(file, document.value ?? {}, []);
  const general = settingsIn(file, rest, null);
  const profiles = new Map<string, GivenSettings>();
  for (const [name, value] of Object.entries(membersOf(file, section, ["profiles"]))) {
    profiles.set(name, settingsIn(file, membersOf(file, value, ["profiles", name]), name));
  }
  if (profile === null) return { general, profile: new Map() };
  const selected = profiles.get(String(profile.value));
  if (selected) return { general, profile: selected };
  throw unknownProfile(path, profile, [...profiles.keys()]);
}

interface ConfigFile {
  readonly path: string;
  readonly document: YamlText;
  readonly known: readonly OptionSpec[];
}

/** Maximum size of a config file in bytes, so that a device cannot fill the memory. */
const largestConfig = 16 * 1024 * 1024;

async function readText(path: string, signal: AbortSignal | undefined): Promise<string> {
  try {
    const bytes = await readPath(path, { signal, limit: largestConfig });
    if (bytes.length === largestConfig) throw new Error("it has 16 MiB or more");
    return bytes.toString("utf8");
  } catch (error) {
    signal?.throwIfAborted();
    throw new UsageError(
      "config_unreadable",
      `cannot read the config file ${path}: ${fileFault(error)}`,
      { cause: error },
    );
  }
}

function parseConfig(path: string, text: string): YamlText {
  const document = parseYaml(text);
  if (document.fault === null) return document;
  const { place, message } = document.fault;
  const at = place === null ? path : `${path}:${place.line}:${place.column}`;
  throw new UsageError("config_not_yaml", `${at} is not valid YAML: ${message}`, {
    hint: `correct it there; for example:\n${example}`,
  });
}

/** A small config file, indented for a hint. */
const example = "    intel-url: https://intel.example/beta\n    rate: 50/s";

function membersOf(file: ConfigFile, value: unknown, keys: readonly string[]): JsonObject {
  const members = asObject(value);
  if (members !== null) return members;
  const what = keys.length === 0 ? file.path : `${keys.join(".")} in ${located(file, keys)}`;
  throw new UsageError("config_not_object", `${what} must hold settings by name`, {
    hint: `for example:\n${example}`,
  });
}

/** The file, with line and column of a key where they are known: `config.yaml:3:1`. */
function located({ path, document }: ConfigFile, keys: readonly string[]): string {
  const place = document.placeOf(keys);
  return place === null ? path : `${path}:${place.line}:${place.column}`;
}

function settingsIn(file: ConfigFile, members: object, profile: string | null): GivenSettings {
  const given = new Map<string, GivenSetting>();
  for (const [key, value] of Object.entries(members)) {
    if (key === "$schema" && profile === null) continue;
    const keys = profile === null ? [key] : ["profiles", profile, key];
    const at = located(file, keys);
    const spec = file.known.find((spec) => spec.flag === key || spec.key === key);
    if (!spec || spec.secret || isSelector(spec)) throw unusableKey(at, key, file.known);
    const of = profile === null ? "" : ` of profile ${JSON.stringify(profile)}`;
    given.set(spec.key, {
      value,
      level: profile === null ? "file" : "profile",
      name: `"${key}"${of} in ${at}`,
      place: profile === null ? at : `${at} (profile ${profile})`,
    });
  }
  return given;
}

/** Options that select a file or profile, and so cannot come from one. */
function isSelector({ key }: OptionSpec): boolean {
  return key === "config" || key === "profile";
}

function unusableKey(at: string, key: string, known: readonly OptionSpec[]): UsageError {
  const secret = secretNamed(key);
  if (secret) {
    return new UsageError("secret_in_config", `${at} must not hold the secret "${key}"`, {
      hint: secretHint("others may read a config file", secret),
    });
  }
  const names = known.filter((spec) => !isSelector(spec)).map((spec) => spec.flag);
  const word = didYouMean(key, [...names, "profiles"]);
  return new UsageError("unknown_config_key", `${at} has the unknown key "${key}"`, {
    hint: word === null ? "keys are flags without their dashes" : `did you mean "${word}"?`,
  });
}

function unknownProfile(
  path: string,
  { name, value }: GivenSetting,
  names: readonly string[],
): UsageError {
  return new UsageError(
    "profile_unknown",
    `${path} has no profile ${JSON.stringify(String(value))} (${name})`,
    { hint: `its profiles are: ${names.join(", ") || "none"}` },
  );
}
