import { z } from "zod";

/**
 * What an option tells about itself beside its type: help, README and configuration derive from it.
 * The flag is the member's name in kebab case, the environment variable `REPUTE_` and the name in
 * upper snake case, the configuration file's key the flag without dashes.
 */
export interface OptionMeta {
  readonly description: string;
  /** Placeholder of the value in the help, e.g. `N`, `PATH`, `URL`; none for a switch. */
  readonly value?: string;
  /** Short form, e.g. `o`. */
  readonly alias?: string;
  /** Help shows the form that switches it off: `--no-header`. */
  readonly negated?: boolean;
  /** The flag may be given several times; its values are joined with commas. */
  readonly repeats?: boolean;
  /** `-h` lists the flag; `--help` lists all. */
  readonly common?: boolean;
  /** The value is a secret: no message shows it, and a configuration file must not hold it. */
  readonly secret?: boolean;
}

/** Attaches what the help says to an option's schema. */
export function option<T extends z.ZodType>(schema: T, meta: OptionMeta): T {
  return schema.meta({ ...meta });
}

/** A whole number of at least `min`; text of digits is read. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): z.ZodType<number> {
  return z
    .union([z.number(), z.string().regex(/^\d+$/, "must be a whole number").transform(Number)])
    .pipe(z.number().int("must be a whole number").min(min).max(max));
}

/** A share from 0 to 1, as number or text. */
export function share(): z.ZodType<number> {
  return z
    .union([
      z.number(),
      z
        .string()
        .regex(/^\d*\.?\d+$/, "must be a number")
        .transform(Number),
    ])
    .pipe(z.number().min(0, "must be at least 0").max(1, "must be at most 1"));
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1e3, m: 60e3, h: 3600e3, d: 86400e3 };

/** A length of time such as `250ms`, `30s`, `5m`, `24h`, `7d`; comes out in milliseconds. */
export function duration(): z.ZodType<number> {
  return z.union([z.number().min(0), z.string()]).transform((value, context) => {
    if (typeof value === "number") return value;
    const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(value.trim());
    const factor = unitMs[match?.[2] ?? ""];
    if (!match || factor === undefined) {
      context.addIssue({
        code: "custom",
        message: `must be a number and a unit (ms, s, m, h, d), such as 30s`,
      });
      return z.NEVER;
    }
    return Number(match[1]) * factor;
  });
}

/** So many requests in a length of time. */
export interface Rate {
  /** Requests, at least 1. */
  readonly count: number;
  /** Length of the window in milliseconds. */
  readonly perMs: number;
}

/** A window of an hour or longer is a quota: counted, kept across runs, not smoothed. */
export function isQuota({ perMs }: Rate): boolean {
  return perMs >= 3_600_000;
}

/** A rate such as `100/s`, `600/m`, `5000/h`, `10000/d`. */
export function rate(): z.ZodType<Rate> {
  return z
    .string()
    .or(z.strictObject({ count: z.number().min(1), perMs: z.number().positive() }))
    .transform((value, context): Rate => {
      if (typeof value === "object") return value;
      const match = /^(\d+)\/(s|m|h|d)$/.exec(value.trim());
      const perMs = unitMs[match?.[2] ?? ""];
      const count = Number(match?.[1]);
      if (!match || perMs === undefined || count < 1) {
        context.addIssue({
          code: "custom",
          message: "must be a count and a window, such as 100/s, 600/m or 10000/d",
        });
        return z.NEVER;
      }
      return { count, perMs };
    });
}

/** When to stop: at the next time of day, by local time, or after a length of time. */
export type Deadline = { /** As it was given. */ readonly text: string } & (
  | { readonly hours: number; readonly minutes: number }
  | { readonly afterMs: number }
);

/** A deadline such as `05:30` or `2h`. */
export function deadline(): z.ZodType<Deadline> {
  const length = duration();
  return z.string().transform((value, context): Deadline => {
    const text = value.trim();
    const [, hours, minutes] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
    if (hours !== undefined) return { text, hours: Number(hours), minutes: Number(minutes) };
    const after = length.safeParse(text);
    if (after.success && after.data > 0) return { text, afterMs: after.data };
    context.addIssue({
      code: "custom",
      message: "must be a time of day such as 05:30, or a length of time such as 2h",
    });
    return z.NEVER;
  });
}

/** One rate or several, as `50/s,10000/d` or as a list. */
export function rates(): z.ZodType<readonly Rate[]> {
  const one = rate();
  return z
    .union([z.string(), z.array(z.unknown()), z.record(z.string(), z.unknown())])
    .transform((value) =>
      typeof value === "string" ? value.split(",") : Array.isArray(value) ? value : [value],
    )
    .pipe(z.array(one).min(1));
}
