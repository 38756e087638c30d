import { z } from "zod";
import { redactAddress } from "./redaction.js";
import { didYouMean } from "./wording/did-you-mean.js";
import { cutOff } from "./wording/printable.js";

/**
 * Metadata of an option; help, documentation and config derive from it. For an option `retryMax` the
 * flag is `--retry-max`, the environment variable `REPUTE_RETRY_MAX` and the config key `retry-max`.
 */
interface OptionMeta {
  readonly description: string;
  /** Placeholder for the value in help, e.g. `N`, `PATH`, `URL`; none for a switch. */
  readonly value?: string;
  readonly alias?: string;
  readonly negated?: boolean;
  /** The flag may be repeated: values are joined with commas, or form a list as they are. */
  readonly repeats?: boolean | "list";
  /** The value is a secret: messages never show it, and config files must not contain it. */
  readonly secret?: boolean;
}

export function option<T extends z.ZodType>(schema: T, meta: OptionMeta): T {
  return schema.meta({ ...meta });
}

export function refuse(context: z.RefinementCtx, message: string): never {
  context.addIssue({ code: "custom", message });
  return z.NEVER;
}

export function wholeNumber(
  min: number,
  max = Number.MAX_SAFE_INTEGER,
): z.ZodType<number, number | string> {
  const expected = "must be a whole number";
  // Not `int`, which calls what is beyond its limits no whole number.
  const limits = z.number().multipleOf(1, expected).min(min).max(max);
  return numeric(/^-?\d+$/, expected, Number).pipe(limits);
}

/** A number, or a text of this form that is read as one. */
function numeric(form: RegExp, expected: string, read: (text: string) => number) {
  return z.union([z.number(), z.string().regex(form, expected).transform(read)]);
}

/** A share from 0 to 1, such as `0.5` or `50%`. */
export function share(): z.ZodType<number, number | string> {
  const read = (text: string): number => Number.parseFloat(text) / (text.endsWith("%") ? 100 : 1);
  const limits = z.number().min(0, "must be at least 0").max(1, "must be at most 1, which is 100%");
  return numeric(/^\d*\.?\d+%?$/, "must be a share such as 0.5 or 50%", read).pipe(limits);
}

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1e3,
  m: 60e3,
  min: 60e3,
  h: 3600e3,
  d: 86400e3,
};

/** A length of time: milliseconds, or text such as `250ms`, `30s`, `5m`, `24h`, `7d`. */
export type Duration = number | string;

export function duration(): z.ZodType<number, Duration> {
  return z.union([z.number().min(0), z.string()]).transform((value, context) => {
    if (typeof value === "number") return value;
    const [, number, unit = ""] = /^(-?\d+(?:\.\d+)?)(ms|s|m|min|h|d)$/.exec(value.trim()) ?? [];
    const ms = Number(number) * (unitMs[unit] ?? Number.NaN);
    if (ms >= 0) return ms;
    if (ms < 0) return refuse(context, "must not be negative");
    return refuse(context, "must be a number and a unit (ms, s, m, h, d), such as 30s");
  });
}

export interface Rate {
  /** Requests, at least 1. */
  readonly count: number;
  readonly perMs: number;
}

/** A window of an hour or longer is a quota: counted and kept across runs instead of smoothed. */
export function isQuota({ perMs }: Rate): boolean {
  return perMs >= 3_600_000;
}

/** The lowest rate for each window length: rates with the same window share a count. */
export function tightest(rates: readonly Rate[]): readonly Rate[] {
  const byWindow = new Map<number, Rate>();
  for (const rate of rates) {
    const known = byWindow.get(rate.perMs);
    if (known === undefined || rate.count < known.count) byWindow.set(rate.perMs, rate);
  }
  return [...byWindow.values()];
}

/** No service answers more. */
const mostInWindow = 999_999_999;

/** A rate such as `100/s`, `600/min` (or `600/m`), `5000/h`, `10000/d`. */
export function rate(): z.ZodType<Rate, string | Rate> {
  const spelled = "must be a count and a window, such as 100/s, 600/min or 10000/d";
  const object = z.strictObject({ count: z.number().min(1), perMs: z.number().positive() });
  return z.union([z.string(), object], spelled).transform((value, context): Rate => {
    if (typeof value === "object") return value;
    const [, digits, unit = ""] = /^(\d+)\/(s|m|min|h|d)$/.exec(value.trim()) ?? [];
    const perMs = unitMs[unit];
    const count = Number(digits);
    if (Number(value.split("/", 1)[0]) > mostInWindow)
      return refuse(context, "must be at most 999,999,999 in a window");
    if (perMs !== undefined && count >= 1) return { count, perMs };
    return refuse(context, spelled);
  });
}

/**
 * Some of the names, each once, as `a,b` or as a list.
 *
 * @param what one of them is
 */
export function namesAmong<Name extends string>(
  names: readonly Name[],
  what: string,
): z.ZodType<readonly Name[], string | readonly string[]> {
  return z.union([z.string(), z.array(z.string())]).transform((value, context) => {
    const given = (typeof value === "string" ? value.split(",") : value).map((name) => name.trim());
    const isKnown = (name: string): name is Name => (names as readonly string[]).includes(name);
    if (given.length === 0) return refuse(context, "must name at least one");
    const known = given.filter(isKnown);
    if (known.length === given.length) return [...new Set(known)];
    for (const name of given.filter((other) => !isKnown(other))) {
      const meant = didYouMean(name, names);
      const near = meant === null ? `; known are ${names.join(", ")}` : ` (did you mean ${meant}?)`;
      context.addIssue({
        code: "custom",
        message: `must not contain the unknown ${what} ${JSON.stringify(name)}${near}`,
      });
    }
    return z.NEVER;
  });
}

/** Completes the sentence that begins with an option's name: `must be at least 1`. */
export function explainIssue(issue: z.core.$ZodIssue): string {
  // Our own messages begin with "must"; zod's do not.
  if (issue.message.startsWith("must ")) return issue.message;
  if (issue.code === "invalid_union") return explainUnion(issue.errors);
  if (issue.code === "invalid_value")
    return `must be one of ${issue.values.map(String).join(", ")}`;
  if (issue.code === "invalid_type")
    return `must be ${typeNames[issue.expected] ?? issue.expected}`;
  if (issue.code === "too_small") return tooSmall(issue);
  if (issue.code === "too_big") return `must be at most ${String(issue.maximum)}`;
  return `is not valid: ${issue.message}`;
}

/** `; got VALUE` behind such an explanation, with the word that may be meant. Shows no password. */
export function gotInstead(issue: z.core.$ZodIssue, value: unknown): string {
  const text = redactAddress(JSON.stringify(value) ?? typeof value).replace(afterPath, "$1…");
  const words = issue.code === "invalid_value" ? issue.values.map(String) : [];
  const meant = typeof value === "string" ? didYouMean(value, words) : null;
  return `; got ${cutOff(text, longestShown)}${meant === null ? "" : ` (did you mean ${meant}?)`}`;
}

const longestShown = 80;

/** The query or fragment of an address may contain a key. */
const afterPath = /^("https?:\/\/[^?#"]*[?#])[^"]+/i;

const typeNames: Readonly<Record<string, string>> = {
  boolean: "true or false",
  number: "a number",
  int: "a whole number",
  string: "text",
  array: "a list",
  object: "an object",
};

function tooSmall(issue: z.core.$ZodIssueTooSmall): string {
  if (issue.origin === "string") return "must not be empty";
  if (issue.origin === "array") return "must name at least one";
  return `must be at least ${String(issue.minimum)}`;
}

/** Explains the branch that matches the value's type; names every type if none does. */
function explainUnion(branches: readonly (readonly z.core.$ZodIssue[])[]): string {
  const firsts = branches.map((issues) => issues[0]).filter((issue) => issue !== undefined);
  const near = firsts.find((issue) => issue.code !== "invalid_type");
  if (near) return explainIssue(near);
  const types = firsts.map((issue) => explainIssue(issue).replace(/^must be /, ""));
  return `must be ${[...new Set(types)].join(" or ")}`;
}
