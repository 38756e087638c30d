import { caseOptions, opsOptions } from "../../../client/api/options.js";
import { redactAddress } from "../../../core/redaction.js";
import { sourceOptions } from "../../../io/input/source-options.js";
import { defineCommand } from "../../command.js";
import { exitCodes } from "../../../jobs/enrich/ending.js";
import { flagName, optionSpecs } from "../../options/settings.js";
import { runGroups } from "../runs/enrich-job.js";
import type { Check, DoctorCall } from "./checks.js";
import { labelledText, narrow } from "../../../core/wording/printable.js";
import { writeOut, printRecords } from "../../terminal/data-output.js";
import { openRequests, paceOf } from "../../../client/lookup/options.js";
import { readSecret, type Secret, secretOrigin, secrets } from "../../options/secrets.js";
import type { GivenSetting } from "../../options/settings.js";

const groups = {
  Input: sourceOptions.shape,
  ...runGroups,
  Service: { ...runGroups.Service, ...opsOptions.shape, ...caseOptions.shape },
};

export const doctorCommand = defineCommand({
  name: "doctor",
  summary: "check service, key and machine; list the settings in force",
  description: [
    "Checks what a run depends on (address, key, TLS, clock, disk, cache, queue and exclusion lists) and prints a line for each: ok, warn or fail, what was found, and what to do.",
    "Then it lists the settings that the run would have and where each comes from: a flag, a variable, a line of the config file, a profile, or the default. Settings that only other commands use follow if they are given. Give it the flags of the run. Secrets are shown as set or not set.",
    "The service gets one request, a quick check of 192.0.2.1, which counts against its quotas. Piped settings are one a line: name, value and origin, separated by tabs.",
  ],
  groups,
  examples: {
    "repute doctor": "check the service and this machine",
    "repute doctor --profile nightly -o /data/enriched.csv": "check what a nightly run would use",
  },
  exitCodes: { 0: "nothing failed; there may be warnings", 1: "something failed" },
  run: async (call) => ((await runChecks(call)) ? exitCodes.done : exitCodes.stopped),
});

async function runChecks(call: DoctorCall): Promise<boolean> {
  const { checkAll } = await import("./checks.js");
  const { context, settings, configFile: config_file, profile } = call;
  const checks: Check[] = [];
  await checkAll(call, async (check) => {
    checks.push(check);
    if (!settings.json) await writeOut(context, `${lineOf(check, context.stdout)}\n`);
  });
  const ok = checks.every(([, status]) => status !== "fail");
  const inForce = await settingsInForce(call);
  if (settings.json) {
    const shown = checks.map(([check, status, finding, remedy = null]) => ({
      check,
      status,
      finding,
      remedy,
    }));
    const all = { ok, checks: shown, config_file, profile, ...inForce };
    await writeOut(context, `${JSON.stringify(all)}\n`);
  } else {
    await writeOut(context, "\n");
    await printSettings(call, inForce);
  }
  return ok;
}

/** Width of the longest name of a check, `output folder`. */
const nameWidth = 13;

function lineOf(
  [check, status, finding, remedy = null]: Check,
  { isTTY, columns = 80 }: DoctorCall["context"]["stdout"],
): string {
  const width = isTTY === true ? columns : Number.POSITIVE_INFINITY;
  const head = `${status.padEnd(4)}  ${check.padEnd(nameWidth)}`;
  const text = redactAddress(remedy === null ? finding : `${finding}; ${remedy}`);
  const column = width < narrow ? 6 : head.length + 2;
  return labelledText(head.trimEnd(), text.replaceAll("\n", " "), column, width);
}

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
async function settingsInForce(call: DoctorCall) {
  const { settings, others } = call;
  const own = optionSpecs(doctorCommand.options).flatMap(({ key, flag, defaultText }) => {
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

async function printSettings(
  call: DoctorCall,
  { settings, other_settings, secrets }: Awaited<ReturnType<typeof settingsInForce>>,
): Promise<void> {
  const rows = [
    ...[...settings, ...other_settings].filter(({ value }) => value !== null),
    ...secrets.map(({ secret, state, from }) => ({ setting: secret, value: state, from })),
  ];
  const columns = (["setting", "value", "from"] as const).map((title) => [title, title] as const);
  const cells = (row: (typeof rows)[number]) => columns.map(([, name]) => row[name] ?? "");
  await printRecords(call, rows, columns, (row) => cells(row).join("\t"));
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
