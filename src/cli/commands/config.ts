import { caseOptions, opsOptions } from "../../api/options.js";
import { option } from "../../core/options.js";
import { sourceOptions } from "../../inputs/source-options.js";
import { type CommandCall, defineCommand, type SettingsOf } from "../command.js";
import { commonExitCodes, exitCodes } from "../exit-code.js";
import { paceOf } from "../../lookup/options.js";
import { cliOptions, flagName, optionSpecs } from "../options/option-spec.js";
import { redactAddress } from "../../core/redaction/redact-address.js";
import { readSecret, type Secret, secretOrigin, secrets } from "../options/secrets.js";
import type { GivenSetting } from "../options/settings.js";
import { runGroups } from "./enrich/job-options.js";
import { printRecords, writeOut } from "../terminal/data-output.js";

const { opsUrl, accessTokenFile } = opsOptions.shape;
const { caseUrl, caseApiKeyFile } = caseOptions.shape;

const groups = {
  Input: sourceOptions.shape,
  ...runGroups,
  Service: { ...runGroups.Service, opsUrl, accessTokenFile, caseUrl, caseApiKeyFile },
  "Reports and monitoring": {
    ...runGroups["Reports and monitoring"],
    json: option(cliOptions.shape.json, {
      description: "Print one JSON object, including unset settings",
    }),
  },
};

export const configCommand = defineCommand({
  name: "config",
  usage: "[flags]",
  summary: "show every setting in force and where it comes from",
  description: [
    "Shows the settings that enrich would use, with their origins: a flag, a variable, a line of the config file, a profile, or the default. Settings that only other commands use follow if they are given. Secrets are shown as set or not set.",
    "Settings come from flags, REPUTE_ variables and a config file: --config FILE, else config.yaml in $XDG_CONFIG_HOME/repute (~/.config/repute). Keys are flags without the dashes. `profiles` holds named sections; --profile NAME selects one. Flags override variables, variables override the profile, and the profile overrides the rest of the file.",
    "Piped output has one setting a line: name, value and origin, separated by tabs.",
  ],
  operands: [],
  groups,
  examples: {
    "repute config": "show the settings in force",
    "repute config --profile nightly": "show them with a profile",
    "repute config --json | jq -r .config_file": "print the path of the config file",
  },
  exitCodes: [commonExitCodes[0], ["2", "wrong usage or configuration"]],
  run: showConfig,
});

type Call = CommandCall<SettingsOf<typeof groups>>;

interface ShownSetting {
  readonly setting: string;
  /** As a person writes it; null when unset. */
  readonly value: string | null;
  readonly origin: GivenSetting["level"] | "default";
  /** The flag, the variable, or the place in the config file. */
  readonly from: string;
}

interface ShownSecret {
  readonly secret: string;
  readonly state: "set" | "not set" | "not usable";
  readonly from: string | null;
}

async function showConfig(call: Call): Promise<number> {
  const { context, settings, configFile, profile, others } = call;
  const own = optionSpecs(configCommand.options).flatMap(({ key, flag, defaultText }) => {
    const given = call.given.get(key);
    const shown = given === undefined ? [] : [shownSetting(flag, given)];
    if (given !== undefined && (key !== "rate" || !keepsDefaultRate(settings))) return shown;
    const value = defaultOf(call, key, defaultText);
    return shown.concat({ setting: flag, value, origin: "default", from: "default" });
  });
  const ofOthers = [...others]
    .filter(([, { secret }]) => secret !== true)
    .map(([key, given]) => shownSetting(flagName(key), given));
  const held: ShownSecret[] = [];
  for (const secret of Object.values(secrets)) held.push(await shownSecret(secret, call));
  if (settings.json) {
    const shown = { config_file: configFile, profile };
    const all = { ...shown, settings: own, other_settings: ofOthers, secrets: held };
    await writeOut(context, `${JSON.stringify(all)}\n`);
    return exitCodes.done;
  }
  const rows = [
    ...[...own, ...ofOthers]
      .filter(({ value }) => value !== null)
      .map(({ setting, value, from }) => [setting, value ?? "", from]),
    ...held.map(({ secret, state, from }) => [secret, state, from ?? ""]),
  ];
  const columns = ["setting", "value", "from"].map(
    (title, at) => [title, (cells: readonly string[]) => cells[at] ?? ""] as const,
  );
  await printRecords(call, rows, columns, { toLine: (cells) => cells.join("\t") });
  return exitCodes.done;
}

/** What applies when nothing is given, where the schema doesn't say. */
function defaultOf({ settings, configFile }: Call, key: string, text: string | null) {
  if (key === "config") return configFile;
  if (key === "rate") return keepsDefaultRate(settings) ? "100/s" : "none";
  return text;
}

/** Whether the default rate is in force, with or without quotas on top. */
function keepsDefaultRate({ rate, local }: Call["settings"]): boolean {
  return paceOf(rate, local).length > (rate?.length ?? 0);
}

function shownSetting(setting: string, given: GivenSetting): ShownSetting {
  const { value, level, name, place = name } = given;
  const text = Array.isArray(value) ? value.map(textOf).join(",") : textOf(value);
  return { setting, value: redactAddress(text), origin: level, from: place };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

async function shownSecret(secret: Secret, { given, context }: Call): Promise<ShownSecret> {
  const { name, variable, fileKey } = secret;
  const origin = secretOrigin(secret, given, context.env);
  if (origin === null) return { secret: name, state: "not set", from: null };
  const from =
    origin === "variable"
      ? variable
      : `${String(origin.value)} (${shownSetting(flagName(fileKey), origin).from})`;
  try {
    await readSecret(secret, given, context);
    return { secret: name, state: "set", from };
  } catch (error) {
    context.signal.throwIfAborted();
    context.reporter.warning((error as Error).message);
    return { secret: name, state: "not usable", from };
  }
}
