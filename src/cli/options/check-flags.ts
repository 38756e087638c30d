import { didYouMean } from "../../core/did-you-mean.js";
import { UsageError } from "../../core/errors.js";
import { restoreDash } from "./normalise-arguments.js";
import { optionSpecs } from "./option-spec.js";
import { secretHint, secretNamed } from "./secrets.js";
import type { Command } from "../command.js";
import type { OptionSpec } from "./option-spec.js";
import type { GivenSetting, GivenSettings } from "./settings.js";

/** What the flags are checked against. */
export interface FlagSurroundings {
  /** The command line as it was written. */
  readonly args: readonly string[];
  readonly command: Command;
  /** The command's own options. */
  readonly specs: readonly OptionSpec[];
  readonly commands: readonly Command[];
}

/**
 * Turns the flags that the parser found into settings.
 *
 * @throws UsageError for a flag that is unknown, lacks its value or is given twice
 */
export function checkFlags(
  flags: Readonly<Record<string, unknown>>,
  around: FlagSurroundings,
): GivenSettings {
  const given = new Map<string, GivenSetting>();
  for (const [flag, value] of Object.entries(flags)) {
    const spec = around.specs.find((spec) => spec.flag === flag);
    if (!spec) throw unknownFlag(flag, around);
    given.set(spec.key, {
      value: spec.isSwitch ? value : checkedText(spec, value, around.args),
      level: "flag",
      name: `--${flag}`,
    });
  }
  return given;
}

function checkedText(spec: OptionSpec, value: unknown, args: readonly string[]): string {
  if (Array.isArray(value) && spec.repeats && value.every((one) => one !== "")) {
    return value.map((one) => restoreDash(String(one))).join(",");
  }
  if (Array.isArray(value)) {
    throw new UsageError(
      "flag_twice",
      `--${spec.flag} is given ${value.length} times: ${value.map((v) => restoreDash(String(v))).join(", ")}`,
      { hint: "give it once" },
    );
  }
  if (value === false) {
    throw new UsageError("flag_not_negatable", `--no-${spec.flag} does not exist`, {
      hint: `--${spec.flag} takes a value: --${spec.flag} ${spec.placeholder ?? "VALUE"}`,
    });
  }
  if (value === "" && !args.includes(`--${spec.flag}=`)) {
    throw new UsageError("flag_without_value", `--${spec.flag} needs a value`, {
      hint: `write --${spec.flag} ${spec.placeholder ?? "VALUE"}, or --${spec.flag}=VALUE for one that begins with a dash`,
    });
  }
  return restoreDash(String(value));
}

function unknownFlag(flag: string, around: FlagSurroundings): UsageError {
  const written = asWritten(flag, around.args);
  const secret = secretNamed(flag);
  if (secret) {
    return new UsageError("secret_as_flag", `${written} does not exist: a secret is no flag`, {
      hint: secretHint(secret),
    });
  }
  const name = written.replace(/^--?/, "");
  const candidates = around.specs.flatMap((spec) =>
    spec.isSwitch ? [spec.flag, `no-${spec.flag}`] : [spec.flag],
  );
  const owners = around.commands.filter((command) =>
    optionSpecs(command.options).some((spec) => spec.flag === flag),
  );
  const word = didYouMean(name, candidates);
  const hint =
    owners.length > 0
      ? `it is a flag of: ${owners.map((command) => `repute ${command.name}`).join(", ")}`
      : word === null
        ? null
        : `did you mean --${word}?`;
  return new UsageError(
    "unknown_flag",
    `${around.command.name} has no flag ${written}`,
    hint === null ? {} : { hint },
  );
}

/** The flag as it stands on the command line, without a value: `--no-foo`, `-x`. */
function asWritten(flag: string, args: readonly string[]): string {
  const spellings = flag.length === 1 ? [`-${flag}`] : [`--${flag}`, `--no-${flag}`];
  return (
    spellings.find((s) => args.some((arg) => arg === s || arg.startsWith(`${s}=`))) ??
    spellings[0] ??
    flag
  );
}
