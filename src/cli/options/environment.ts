import { didYouMean } from "../../core/did-you-mean.js";
import { secrets } from "./secrets.js";
import type { OptionSpec } from "./option-spec.js";
import type { GivenSetting, GivenSettings } from "./settings.js";

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
