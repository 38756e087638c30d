import { didYouMean } from "../../core/text/did-you-mean.js";
import { UsageError } from "../../core/errors.js";
import type { Command } from "../command.js";
import type { CliContext } from "../terminal/cli-context.js";
import { loadCommands } from "../command-list.js";
import { type OptionSpec, optionSpecs } from "../options/option-spec.js";
import { secrets } from "../options/secrets.js";
import {
  findConfigFile,
  type GivenSetting,
  type GivenSettings,
  type LoadedSettings,
  loadSettings,
} from "../options/settings.js";

/**
 * The settings of a command: flags override variables, which override the profile, which overrides
 * the rest of the config file.
 *
 * @throws UsageError for wrong values, and for a config file that cannot be used
 */
export async function readSettings(
  command: Command,
  flags: GivenSettings,
  context: Pick<CliContext, "env" | "reporter"> & Partial<Pick<CliContext, "signal">>,
): Promise<LoadedSettings<Readonly<Record<string, unknown>>>> {
  const { env, reporter, signal } = context;
  const own = optionSpecs(command.options);
  const ofEnvironment = settingsFromEnvironment(env, own);
  const [config, profile] = ["config", "profile"].map(
    (key) => flags.get(key) ?? ofEnvironment.get(key) ?? null,
  );
  const readsFile = "config" in command.options.shape;
  const named = config === null || config === undefined ? null : String(config.value);
  const path = readsFile ? (named ?? findConfigFile(env) ?? "") : "";
  // One environment and one file serve every command.
  const needsOthers =
    command.name === "doctor" || path !== "" || unknownVariables(env, own).length > 0;
  const known = needsOthers ? optionsOf(await loadCommands()) : own;
  for (const warning of unknownVariables(env, known)) reporter.warning(warning);
  const levels = [flags, settingsFromEnvironment(env, known)];
  if (path !== "") {
    const { settingsFromFile } = await import("../options/config-file.js");
    const file = await settingsFromFile(path, known, profile ?? null, signal);
    levels.push(file.profile, file.general);
  } else if (readsFile && profile) {
    throw new UsageError("profile_without_config", `${profile.name} needs a config file`, {
      hint: "write ~/.config/repute/config.yaml, or name a file with --config",
    });
  }
  const selected = { configFile: path || null, profile: profile ? String(profile.value) : null };
  return { ...loadSettings(command.options, levels), ...selected };
}

/** The options of commands, each once. */
function optionsOf(commands: readonly Command[]): readonly OptionSpec[] {
  const byKey = new Map<string, OptionSpec>();
  for (const spec of commands.flatMap((command) => optionSpecs(command.options))) {
    if (!byKey.has(spec.key)) byKey.set(spec.key, spec);
  }
  return [...byKey.values()];
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Variables that set no option: the secrets, and the switch for stack traces. */
const otherVariables = [...Object.values(secrets).map(({ variable }) => variable), "REPUTE_DEBUG"];

/** Settings given as environment variables. An empty variable counts as unset. */
export function settingsFromEnvironment(
  env: Environment,
  specs: readonly OptionSpec[],
): GivenSettings {
  const given = new Map<string, GivenSetting>();
  for (const spec of specs) {
    const text = env[spec.variable];
    if (text === undefined || text === "") continue;
    const value = spec.isSwitch ? readSwitch(text) : text;
    const hidden = spec.secret ? { secret: true } : {};
    given.set(spec.key, { value, level: "variable", name: spec.variable, ...hidden });
  }
  return given;
}

/** A warning for each `REPUTE_` variable that repute doesn't know. */
export function unknownVariables(
  env: Environment,
  known: readonly OptionSpec[],
): readonly string[] {
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
