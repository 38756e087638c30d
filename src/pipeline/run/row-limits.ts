import { z } from "zod";
import { didYouMean } from "../../core/did-you-mean.js";
import type { FindingStatus } from "../../core/finding.js";
import type { TallySnapshot } from "./tally.js";

/** Most failed rows of a run: a number of rows, or a percentage of those that were looked up. */
export type MaxFailed = { readonly rows: number } | { readonly percent: number };

/** Reads `500` or `50%`. */
export function maxFailed(): z.ZodType<MaxFailed> {
  return z.union([z.number(), z.string()]).transform((value, context): MaxFailed => {
    const text = String(value).trim();
    if (/^\d+$/.test(text)) return { rows: Number(text) };
    const percent = text.endsWith("%") ? percentOf(text.slice(0, -1)) : null;
    if (percent !== null) return { percent };
    context.addIssue({
      code: "custom",
      message: "must be a number of rows such as 500, or a share such as 50%",
    });
    return z.NEVER;
  });
}

/** What `--fail-on` counts. Each word also counts what the words before it count. */
const failOnLevels = {
  failed: ["failed"],
  partial: ["failed", "partial"],
  invalid: ["failed", "partial", "invalid"],
  unsupported: ["failed", "partial", "invalid", "unsupported"],
  never: [],
} as const satisfies Record<string, readonly FindingStatus[]>;

/** Which rows make a finished run end with exit code 3. */
export interface FailOn {
  readonly statuses: readonly FindingStatus[];
  /** Least share of all rows, in percent; null where one row is enough. */
  readonly percent: number | null;
}

const failOnForm = /^([a-z]+)(?::(.+)%)?$/;

/** Reads `failed`, `never`, or a word with a share: `unsupported:90%`. */
export function failOn(): z.ZodType<FailOn> {
  return z.string().transform((value, context): FailOn => {
    const [, word = "", share] = failOnForm.exec(value.trim()) ?? [];
    const percent = share === undefined ? null : percentOf(share);
    const isWhole = share === undefined || (percent !== null && word !== "never");
    if (isLevel(word) && isWhole) return { statuses: failOnLevels[word], percent };
    const words = Object.keys(failOnLevels);
    const meant = isLevel(word) ? null : didYouMean(value.replace(/:.*/, ""), words);
    const near = meant === null ? "" : ` (did you mean ${meant}?)`;
    context.addIssue({
      code: "custom",
      message: `must be one of ${words.join(", ")}, or all but never with a share such as unsupported:90%${near}`,
    });
    return z.NEVER;
  });
}

function isLevel(word: string): word is keyof typeof failOnLevels {
  return Object.hasOwn(failOnLevels, word);
}

/** A number from 0 to 100, or null. */
function percentOf(text: string): number | null {
  const percent = /^\d*\.?\d+$/.test(text) ? Number(text) : Number.NaN;
  return percent <= 100 ? percent : null;
}

/** Fewer lookups are too few for a share of them to mean anything. */
const leastLookedUp = 100;

/** Rows that were looked up, and those of them that failed. */
export interface LookedUp {
  readonly rows: number;
  readonly failed: number;
}

/** Rows with an item count; a line that could not be read was not looked up. */
export function lookedUp({
  kinds,
  statuses,
  errors,
}: Pick<TallySnapshot, "kinds" | "statuses" | "errors">): LookedUp {
  const rows = Object.values(kinds).reduce((sum, n) => sum + n, 0);
  return { rows, failed: statuses.failed - (errors["input_row"] ?? 0) };
}

/**
 * True when a finished run has more failed rows than `--max-failed` allows. A count applies to all
 * failed rows; a share applies to the rows that were looked up, from 100 of them on.
 */
export function tooManyFailed(limit: MaxFailed, tally: TallySnapshot): boolean {
  if ("rows" in limit) return tally.statuses.failed > limit.rows;
  const { rows, failed } = lookedUp(tally);
  return rows >= leastLookedUp && failed * 100 > limit.percent * rows;
}
