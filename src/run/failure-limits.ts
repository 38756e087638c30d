import { z } from "zod";
import { didYouMean } from "../core/text/did-you-mean.js";
import type { FindingStatus } from "../core/finding.js";
import type { TallySnapshot } from "./tally.js";

/** Maximum number of failed rows: a count, or a percentage of the rows that were looked up. */
export type MaxFailed = { readonly rows: number } | { readonly percent: number };

/** Parses `500` or `50%`. */
export function maxFailed(): z.ZodType<MaxFailed, number | string> {
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

/**
 * Statuses counted by each value of `--fail-on`. Each one includes those of the values before it.
 */
const failOnLevels = {
  failed: ["failed"],
  partial: ["failed", "partial"],
  invalid: ["failed", "partial", "invalid"],
  unsupported: ["failed", "partial", "invalid", "unsupported"],
  never: [],
} as const satisfies Record<string, readonly FindingStatus[]>;

/** Which rows make a finished run exit with 3. */
export interface FailOn {
  readonly statuses: readonly FindingStatus[];
  /** Minimum share of all rows, in percent; null if a single row is enough. */
  readonly percent: number | null;
}

const failOnForm = /^([a-z]+)(?::(.+)%)?$/;

/** Parses `failed`, `never`, or a status with a share: `unsupported:90%`. */
export function failOn(): z.ZodType<FailOn, string> {
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
      message: `must be one of ${words.join(", ")}, optionally (except never) with a share such as unsupported:90%${near}`,
    });
    return z.NEVER;
  });
}

function isLevel(word: string): word is keyof typeof failOnLevels {
  return Object.hasOwn(failOnLevels, word);
}

/** Parses a number from 0 to 100; null if it is not one. */
function percentOf(text: string): number | null {
  const percent = /^\d*\.?\d+$/.test(text) ? Number(text) : Number.NaN;
  return percent <= 100 ? percent : null;
}

/** Below this number of lookups, a share of them means nothing. */
const minLookedUp = 100;

/** Number of rows that were looked up, and how many of them failed. */
export interface LookedUp {
  readonly rows: number;
  readonly failed: number;
}

/** Counts rows with an item. A line that could not be read was not looked up. */
export function lookedUp({
  kinds,
  statuses,
  errors,
}: Pick<TallySnapshot, "kinds" | "statuses" | "errors">): LookedUp {
  const rows = Object.values(kinds).reduce((sum, n) => sum + n, 0);
  return { rows, failed: statuses.failed - (errors["input_row"] ?? 0) };
}

/**
 * True if a finished run has more failed rows than `--max-failed` allows. A count applies to all
 * failed rows; a share applies to the rows that were looked up, once there are 100 of them.
 */
export function tooManyFailed(
  limit: MaxFailed,
  tally: Pick<TallySnapshot, "kinds" | "statuses" | "errors">,
): boolean {
  if ("rows" in limit) return tally.statuses.failed > limit.rows;
  const { rows, failed } = lookedUp(tally);
  return rows >= minLookedUp && failed * 100 > limit.percent * rows;
}
