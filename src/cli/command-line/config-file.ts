import { existsSync } from "node:fs";
import { join } from "node:path";
import { didYouMean } from "../../core/wording/did-you-mean.js";
import { UsageError } from "../../core/errors.js";
import type { JsonObject } from "../../core/finding.js";
import { userConfigFolder } from "../../core/files/folders.js";
import { readNamed } from "../../core/files/read-path.js";
import { asObject } from "../../core/json-members.js";
import { secrets } from "../options/secrets.js";
import {
  type GivenSetting,
  type GivenSettings,
  type LoadedSettings,
  loadSettings,
  type OptionSpec,
  optionSpecs,
} from "../options/settings.js";
import type { Command } from "../command.js";
import type { CliContext } from "../terminal/cli-context.js";
import { loadCommands } from "../command-list.js";

/**
 * Reads a config file: YAML (so JSON too) with flag names as keys, without dashes or in camel
 * case. `profiles` maps names to more such settings. Every key is checked, even in profiles that are
 * not selected.
 *
 * @param known the options of every command, since one file serves them all
 * @param profile the setting that selects a profile; null for none
 * @returns the settings of the selected profile, then the general ones
 * @throws UsageError when the file cannot be read or parsed, has an unknown key or no such profile
 */
async function settingsFromFile(
  path: string,
  known: readonly OptionSpec[],
  profile: GivenSetting | null,
  signal?: AbortSignal,
): Promise<readonly GivenSettings[]> {
  const { value, positionOf } = await parseConfig(path, signal);
  const placeOf = (keys: readonly string[]): string => placeIn(path, positionOf(keys));
  const membersOf = (section: unknown, ...keys: readonly string[]): JsonObject => {
    const members = asObject(section);
    if (members !== null) return members;
    const what = keys.length === 0 ? path : `${keys.join(".")} in ${placeOf(keys)}`;
    throw new UsageError("config_not_object", `${what} must map names of settings to values`, {
      hint: `for example:\n${example}`,
    });
  };
  const settingsIn = (members: JsonObject, name?: string): GivenSettings => {
    const given = Object.entries(members).map(([key, value]): [string, GivenSetting] => {
      const spec = known.find((spec) => spec.flag === key || spec.key === key);
      const at = placeOf(name === undefined ? [key] : ["profiles", name, key]);
      if (!spec || !isForFile(spec)) throw unusableKey(at, key, known);
      if (name === undefined) {
        return [spec.key, { value, level: "file", name: `"${key}" in ${at}`, place: at }];
      }
      const origin = `"${key}" of profile ${JSON.stringify(name)} in ${at}`;
      const place = `${at} (profile ${name})`;
      return [spec.key, { value, level: "profile", name: origin, place }];
    });
    return new Map(given);
  };
  // An empty file sets nothing.
  const { profiles: section = {}, ...rest } = membersOf(value ?? {});
  const general = settingsIn(rest);
  const profiles = new Map<string, GivenSettings>();
  for (const [name, members] of Object.entries(membersOf(section, "profiles"))) {
    profiles.set(name, settingsIn(membersOf(members, "profiles", name), name));
  }
  if (profile === null) return [general];
  const selected = profiles.get(String(profile.value));
  if (selected) return [selected, general];
  const asked = `${JSON.stringify(String(profile.value))} (${profile.name})`;
  throw new UsageError("profile_unknown", `${path} has no profile ${asked}`, {
    hint: `its profiles are: ${[...profiles.keys()].join(", ") || "none"}`,
  });
}

/** Maximum size in bytes, so that a device such as `/dev/zero` cannot fill the memory. */
const largestConfig = 16 * 1024 * 1024;

async function parseConfig(path: string, signal: AbortSignal | undefined) {
  const what = `the config file ${path}`;
  const reading = { signal, limit: largestConfig };
  const bytes = await readNamed(path, "config_unreadable", what, reading);
  if (bytes.length >= largestConfig) {
    throw new UsageError("config_unreadable", `cannot read ${what}: it has 16 MiB or more`);
  }
  const { parseYaml } = await import("../../core/wording/yaml-text.js");
  const document = parseYaml(bytes.toString("utf8"));
  if (document.fault === null) return document;
  const { position, message } = document.fault;
  const fault = `${placeIn(path, position)} is not valid YAML: ${message}`;
  throw new UsageError("config_not_yaml", fault, {
    hint: `fix it there; for example:\n${example}`,
  });
}

/** The file, with line and column if known: `config.yaml:3:1`. */
function placeIn(
  path: string,
  position: { readonly line: number; readonly column: number } | null,
): string {
  return position === null ? path : `${path}:${position.line}:${position.column}`;
}

/** A small config file, indented for a hint. */
const example = "    intel-url: https://intel.example/beta\n    rate: 50/s";

/** Secrets are not, nor are options that select the file or profile. */
function isForFile({ key, secret }: OptionSpec): boolean {
  return !secret && key !== "config" && key !== "profile";
}

function unusableKey(at: string, key: string, known: readonly OptionSpec[]): UsageError {
  const names = known.filter(isForFile).map((spec) => spec.flag);
  const word = didYouMean(key, [...names, "profiles"]);
  return new UsageError("unknown_config_key", `${at} has the unknown key "${key}"`, {
    hint: word === null ? "keys are flags without their dashes" : `did you mean "${word}"?`,
  });
}

/**
 * The settings of a command: flags override variables, which override the profile, which overrides
 * the rest of the config file. They are as complete as can be, since they also say how to report
 * their `fault`: a UsageError for wrong values or a config file that cannot be used, or the signal's
 * reason.
 */
export async function readSettings(
  command: Command,
  flags: GivenSettings,
  context: Pick<CliContext, "env" | "reporter"> & Partial<Pick<CliContext, "signal">>,
): Promise<LoadedSettings<Readonly<Record<string, unknown>>> & { readonly fault: unknown }> {
  const { env, reporter, signal } = context;
  const own = optionSpecs(command.options);
  const ofEnvironment = settingsFromEnvironment(env, own);
  const [named, profile = null] = ["config", "profile"].map(
    (key) => flags.get(key) ?? ofEnvironment.get(key),
  );
  const readsFile = "config" in command.options.shape;
  const file = named?.value ?? findConfigFile(env);
  const path = readsFile && typeof file === "string" ? file : "";
  // The environment and the file may hold settings of other commands, too.
  const needsOthers = path !== "" || unknownVariables(env, own).length > 0;
  const known = needsOthers ? optionsOf(await loadCommands()) : own;
  for (const warning of unknownVariables(env, known)) reporter.warning(warning);
  const levels = [flags, ofEnvironment];
  let unread: unknown = null;
  if (path !== "") {
    const read = settingsFromFile(path, known, profile, signal);
    levels.push(...(await read.catch((error: unknown) => ((unread = error), []))));
  } else if (readsFile && profile) {
    unread = new UsageError("profile_without_config", `${profile.name} needs a config file`, {
      hint: "write ~/.config/repute/config.yaml, or name a file with --config",
    });
  }
  const selected = { configFile: path || null, profile: profile ? String(profile.value) : null };
  const loaded = loadSettings(command.options, levels);
  return { ...loaded, ...selected, fault: unread ?? loaded.fault };
}

function optionsOf(commands: readonly Command[]): readonly OptionSpec[] {
  const specs = commands.flatMap((command) => optionSpecs(command.options));
  return [...new Map(specs.map((spec) => [spec.key, spec])).values()];
}

type Environment = Readonly<Record<string, string | undefined>>;

function findConfigFile(env: Environment): string | null {
  const folder = userConfigFolder(env);
  const path = folder === null ? null : join(folder, "config.yaml");
  return path !== null && existsSync(path) ? path : null;
}

/** Variables of secrets, which are not options. */
const otherVariables = Object.values(secrets).map(({ variable }) => variable);

/** Settings given as environment variables. An empty variable counts as unset. */
function settingsFromEnvironment(env: Environment, specs: readonly OptionSpec[]): GivenSettings {
  const given = new Map<string, GivenSetting>();
  for (const spec of specs) {
    const text = env[spec.variable];
    if (text === undefined || text === "") continue;
    const value = spec.isSwitch ? readSwitch(text) : text;
    given.set(spec.key, { value, level: "variable", name: spec.variable });
  }
  return given;
}

/** A warning for each `REPUTE_` variable that repute doesn't know. */
function unknownVariables(env: Environment, known: readonly OptionSpec[]): readonly string[] {
  const names = [...known.map((spec) => spec.variable), ...otherVariables];
  return Object.keys(env)
    .filter((name) => name.startsWith("REPUTE_") && !names.includes(name))
    .sort()
    .map((name) => {
      const word = didYouMean(name, names);
      return `unknown variable ${name}${word === null ? "" : `; did you mean ${word}?`}`;
    });
}

/** Reads the usual spellings of on and off. Leaves anything else for the schema to reject. */
function readSwitch(text: string): boolean | string {
  const word = text.trim().toLowerCase();
  if (["true", "1", "yes", "on"].includes(word)) return true;
  return ["false", "0", "no", "off"].includes(word) ? false : text;
}
