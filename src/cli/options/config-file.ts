import { readFile } from "node:fs/promises";
import { didYouMean } from "../../core/did-you-mean.js";
import { UsageError } from "../../core/errors.js";
import { fileFault } from "../terminal/reporter.js";
import { secretHint, secretNamed, secrets } from "./secrets.js";
import type { OptionSpec } from "./option-spec.js";
import type { GivenSetting, GivenSettings } from "./settings.js";

/**
 * Reads settings from a JSON file: one object whose keys are the flags' names without dashes, or
 * the same in camel case. Keys that belong to another command are left alone.
 *
 * @param known the options of every command
 * @throws UsageError when the file cannot be read, is no JSON object or has an unknown key
 */
export async function settingsFromFile(
  path: string,
  known: readonly OptionSpec[],
): Promise<GivenSettings> {
  const given = new Map<string, GivenSetting>();
  for (const [name, value] of Object.entries(parseObject(path, await readText(path)))) {
    if (name === "$schema") continue;
    const spec = known.find((spec) => spec.flag === name || spec.key === name);
    if (!spec || spec.key === "config" || spec.secret) throw unknownKey(path, name, known);
    if (given.has(spec.key)) {
      throw new UsageError(
        "config_key_twice",
        `${path} sets ${spec.flag} twice, as ${spec.flag} and as ${spec.key}`,
      );
    }
    given.set(spec.key, { value, level: "file", name: `"${name}" in ${path}` });
  }
  return given;
}

async function readText(path: string): Promise<string> {
  try {
    return (await readFile(path, "utf8")).replace(/^\uFEFF/, "");
  } catch (error) {
    throw new UsageError(
      "config_unreadable",
      `cannot read the configuration ${path}: ${fileFault(error)}`,
      {
        cause: error,
      },
    );
  }
}

function parseObject(path: string, text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError("config_not_json", `${path}${place(error, text)} is not valid JSON`, {
      cause: error,
      hint: "names and text stand in double quotes, and no comma follows the last member",
    });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UsageError("config_not_object", `${path} must hold one JSON object`, {
      hint: 'for example {"intel-url": "https://intel.example/beta", "rate": "50/s"}',
    });
  }
  return value;
}

function unknownKey(path: string, name: string, known: readonly OptionSpec[]): UsageError {
  const message = `${path} has the unknown key "${name}"`;
  const secret = secretNamed(name);
  if (secret) {
    return new UsageError("secret_in_config", `${path} must not hold the secret "${name}"`, {
      hint: secretHint("others can read a file of settings", secret),
    });
  }
  if (name === "config") {
    return new UsageError("unknown_config_key", message, { hint: "one file cannot name another" });
  }
  const names = known.filter((spec) => spec.key !== "config").map((spec) => spec.flag);
  const word = didYouMean(name, names);
  return new UsageError("unknown_config_key", message, {
    hint:
      word === null ? "keys are the flags' names without the dashes" : `did you mean "${word}"?`,
  });
}

/** The engine tells the offset of an error for some faults and not for others. */
function place(error: unknown, text: string): string {
  const offset = /position (\d+)/.exec(error instanceof Error ? error.message : "")?.[1];
  if (offset === undefined) return "";
  const before = text.slice(0, Number(offset)).split("\n");
  return `, line ${before.length}, column ${(before.at(-1) ?? "").length + 1},`;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Variables that are no option: secrets, which never come as flags, and the wish for stack traces. */
const otherVariables = [...Object.values(secrets).map(({ variable }) => variable), "REPUTE_DEBUG"];

/** What the environment says about the options; an empty variable says nothing. */
export function settingsFromEnvironment(
  env: Environment,
  specs: readonly OptionSpec[],
): GivenSettings {
  const given = new Map<string, GivenSetting>();
  for (const spec of specs) {
    const text = env[spec.variable];
    if (text === undefined || text === "") continue;
    const value = spec.isSwitch ? readSwitch(text) : text;
    given.set(spec.key, { value, level: "variable", name: spec.variable });
  }
  return given;
}

/** A warning for each variable that looks like one of repute's and is none. */
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
      return `${name} is no variable that repute knows${word === null ? "" : `; did you mean ${word}?`}`;
    });
}

/** The customary spellings of on and off; anything else is left for the schema to refuse. */
function readSwitch(text: string): boolean | string {
  const word = text.trim().toLowerCase();
  if (["true", "1", "yes", "on"].includes(word)) return true;
  return ["false", "0", "no", "off"].includes(word) ? false : text;
}
