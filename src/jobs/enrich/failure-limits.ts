import { z } from "zod";
import { refuse } from "../../core/options.js";
import { didYouMean } from "../../core/wording/did-you-mean.js";
import type { FindingStatus } from "../../core/finding.js";
import type { Refusal } from "../../core/manifest.js";
import type { TallySnapshot } from "./tally.js";

/** A number of rows, or a share of those before; `mayBeEmpty` if there may be none the first time. */
type RowLimit =
  | { readonly rows: number }
  | { readonly percent: number; readonly mayBeEmpty?: true };

/** Parses `500` or `50%`. */
export function rowLimit(): z.ZodType<RowLimit, number | string> {
  return z.union([z.number(), z.string()]).transform((value, context): RowLimit => {
    const text = String(value).trim();
    if (/^\d+$/.test(text)) return { rows: Number(text) };
    const percent = text.endsWith("%") ? percentOf(text.slice(0, -1)) : null;
    if (percent !== null) return { percent };
    return refuse(context, "must be a number of rows such as 500, or a share such as 50%");
  });
}

/** Values of `--fail-on`. Each counts its status and those before it; `never` counts none. */
const failOnLevels = ["failed", "partial", "invalid", "unsupported"] as const;

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
    const words = [...failOnLevels, "never"];
    if (words.includes(word) && isWhole) {
      const last = failOnLevels.findIndex((level) => level === word);
      return { statuses: failOnLevels.slice(0, last + 1), percent };
    }
    const meant = words.includes(word) ? null : didYouMean(value.replace(/:.*/, ""), words);
    const near = meant === null ? "" : ` (did you mean ${meant}?)`;
    return refuse(
      context,
      `must be one of ${words.join(", ")}, optionally (except never) with a share such as unsupported:90%${near}`,
    );
  });
}

/** Parses a number from 0 to 100; null if it is not one. */
function percentOf(text: string): number | null {
  const percent = /^\d*\.?\d+$/.test(text) ? Number(text) : Number.NaN;
  return percent <= 100 ? percent : null;
}

/** Below this number of rows, a share of them means nothing. */
const fewRows = 100;

type Counts = Pick<TallySnapshot, "rows" | "statuses" | "unsupported" | "errors">;

/** Number of rows that were looked up or broken, and how many of them failed. */
export function lookedUp({ statuses }: Pick<Counts, "statuses">) {
  const { failed, complete, partial, invalid } = statuses;
  return { rows: complete + partial + invalid + failed, failed };
}

/** Number of broken lines, which no retry can mend. */
export function brokenRows({ errors }: Pick<Counts, "errors">): number {
  return errors["input_row"] ?? 0;
}

/**
 * Why the rows of a run must not replace those of an earlier one; null if they may.
 *
 * @param earlier rows of the earlier output; undefined for none
 */
export function refusalOf(
  { maxFailed, minRows }: { readonly maxFailed: RowLimit; readonly minRows: RowLimit },
  counts: Counts,
  earlier: number | undefined,
): Refusal | null {
  const { rows } = counts;
  if (rows < leastRows(minRows, earlier)) return "too_few_rows";
  if ("percent" in maxFailed && maxFailed.percent === 100) return null;
  if (rows > 0 && isNothingLookedUp(counts)) return "nothing_to_look_up";
  return isTooManyFailed(maxFailed, counts) ? "too_many_failed" : null;
}

/**
 * Number of rows that a run needs: with a share, that of the earlier output's rows, and one at least
 * unless the input may be empty.
 */
export function leastRows(limit: RowLimit, earlier: number | undefined): number {
  if ("rows" in limit) return limit.rows;
  if (limit.percent === 0) return 0;
  if (earlier !== undefined && earlier >= fewRows)
    return Math.ceil((limit.percent * earlier) / 100);
  return limit.mayBeEmpty === true ? 0 : 1;
}

/** Reasons why an item is held back, which say nothing against the input. */
const heldBack = ["excluded", "internal_host", "tlp"];

function isNothingLookedUp({ statuses, unsupported, errors }: Counts): boolean {
  const held = heldBack.reduce((sum, code) => sum + (unsupported[code] ?? 0), 0);
  return lookedUp({ statuses }).rows === brokenRows({ errors }) && held === 0;
}

/** A count applies to runs of any size; a share once there are 100 rows. */
function isTooManyFailed(limit: RowLimit, counts: Counts): boolean {
  const { rows, failed } = lookedUp(counts);
  if ("rows" in limit) return failed > limit.rows;
  return rows >= fewRows && failed * 100 > limit.percent * rows;
}
