import { z } from "zod";
import { option, wholeNumber } from "../../core/options.js";
import { isObjectAddress } from "../../io/s3/address.js";
import { logFormats } from "../terminal/reporter.js";

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
    /** The default as typed on a command line. */
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

export const cliOptions = z.strictObject({
  local: option(z.boolean().default(false), {
    description: "Use the embedded service with its sample dataset. Nothing leaves this machine",
  }),
  synthetic: option(wholeNumber(0, 2 ** 32 - 1).optional(), {
    description:
      "With --local, invent an answer for every item that is not in the dataset. The same seed gives the same answers",
    value: "SEED",
  }),
  report: option(z.string().min(1).optional(), {
    description:
      "When the rows are done, write a page about them to this HTML file; see repute report. {date} and {run_id} are expanded as in -o",
    value: "FILE",
  }),
  against: option(z.string().min(1).optional(), {
    description:
      "Show in the report what changed since this earlier output, or since the previous one, if the name of OUT has {date} or {run_id}, or a date or run ID in its place",
    value: "FILE|previous",
  }),
  json: option(z.boolean().default(false), {
    description:
      "Print JSON: a summary as one object (to stdout if OUT is a file, else to stderr), records one per line",
  }),
  quiet: option(z.boolean().default(false), {
    description: "Print no progress and no summary, only warnings and errors",
    alias: "q",
  }),
  config: option(z.string().min(1).optional(), {
    description:
      "Config file in YAML; its keys are flags without the dashes [default ~/.config/repute/config.yaml]",
    value: "FILE",
  }),
  profile: option(z.string().min(1).optional(), {
    description: 'Section under "profiles" in the config file. It overrides the rest of the file',
    value: "NAME",
  }),
});

const isFile = (path: string): boolean => !isObjectAddress(path);
const fileOnly = "must be a file on this machine: node_exporter reads it there";

export const unattendedOptions = z.strictObject({
  metrics: option(z.string().min(1).refine(isFile, fileOnly).optional(), {
    description:
      "Write metrics of the run to this file as OpenMetrics text, every 15 s and at the end, for the textfile folder of node_exporter",
    value: "FILE",
  }),
  ping: option(z.url({ protocol: /^https?$/, error: "must be an http(s) address" }).optional(), {
    description:
      "Call URL/start when the run starts, then URL or URL/fail with the summary as JSON, as healthchecks.io expects. A failed ping is a warning",
    value: "URL",
  }),
  logFormat: option(z.enum(logFormats).default("text"), {
    description: "Format of stderr: text, or JSON lines with time, level and run id",
  }),
});
