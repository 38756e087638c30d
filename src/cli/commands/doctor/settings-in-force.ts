import { openRequests, paceOf } from "../../../client/lookup/options.js";
import { redactAddress } from "../../../core/redaction/redact-address.js";
import type { Command } from "../../command.js";
import { flagName, optionSpecs } from "../../options/option-spec.js";
import { readSecret, type Secret, secretOrigin, secrets } from "../../options/secrets.js";
import type { GivenSetting } from "../../options/settings.js";
import { printRecords } from "../../terminal/data-output.js";
import type { DoctorCall } from "./check-machine.js";

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

/** The settings that a run has, with their origins; secrets only as set or not set. */
export async function settingsInForce(call: DoctorCall, command: Command) {
  const { settings, others } = call;
  const own = optionSpecs(command.options).flatMap(({ key, flag, defaultText }) => {
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
  return { settings: own, other_settings: ofOthers, secrets: held };
}

/** Prints the settings that have a value, and the secrets. */
export async function printSettings(
  call: DoctorCall,
  shown: Awaited<ReturnType<typeof settingsInForce>>,
): Promise<void> {
  const rows = [
    ...[...shown.settings, ...shown.other_settings]
      .filter(({ value }) => value !== null)
      .map(({ setting, value, from }) => [setting, value ?? "", from]),
    ...shown.secrets.map(({ secret, state, from }) => [secret, state, from ?? ""]),
  ];
  const columns = ["setting", "value", "from"].map(
    (title, at) => [title, (cells: readonly string[]) => cells[at] ?? ""] as const,
  );
  await printRecords(call, rows, columns, { toLine: (cells) => cells.join("\t") });
}

/** What applies when nothing is given, where the schema doesn't say. */
function defaultOf({ settings, configFile }: DoctorCall, key: string, text: string | null) {
  if (key === "config") return configFile;
  if (key === "concurrency") return String(openRequests(settings));
  if (key === "rate") return keepsDefaultRate(settings) ? "100/s" : "none";
  return text;
}

/** Whether the default rate is in force, with or without quotas on top. */
function keepsDefaultRate(settings: DoctorCall["settings"]): boolean {
  return paceOf(settings, settings.local).length > (settings.rate?.length ?? 0);
}

function shownSetting(setting: string, given: GivenSetting): ShownSetting {
  const { value, level, name, place = name } = given;
  const text = Array.isArray(value) ? value.map(textOf).join(",") : textOf(value);
  return { setting, value: redactAddress(text), origin: level, from: place };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

async function shownSecret(secret: Secret, { given, context }: DoctorCall): Promise<ShownSecret> {
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
