import { type Clock, systemClock } from "../../core/clock.js";
import {
  type Finding,
  type FindingError,
  type FindingStatus,
  unasked,
} from "../../core/finding.js";
import { type Item, parseKindName } from "../../core/item/item.js";
import { itemCodes } from "../../core/error-codes/item-codes.js";
import { recogniseItem } from "../../core/item/recognise.js";
import type { Row } from "../../core/row.js";
import { shownColumn } from "../../formats/columns/find-column.js";
import { detectSourceFormat } from "../../formats/registry.js";
import { type InputOptions, openSource } from "../../inputs/open-input.js";
import { type SniffedInput, sniffFormat } from "../../inputs/sniff-format.js";
import type { Encoder, InputReading, SourceFormat } from "../../formats/types.js";
import type {
  AnyInput,
  CopiedFrom,
  OpenedSource,
  SourceInput,
  SourcePosition,
} from "../../inputs/types.js";
import type { Lookup } from "../../lookup/types.js";
import type { CopyPlace } from "../copy/copied-table.js";
import type { EnrichSettings } from "../options.js";
import { z } from "zod";
import { didYouMean } from "../../core/did-you-mean.js";
import type { TallySnapshot } from "./tally.js";

/** Settings that determine how the rows of an input are read. */
export type ReadingSettings = Pick<
  EnrichSettings,
  "from" | "header" | "comment" | "itemColumn" | "kindColumn"
>;

/** A row's item, and its finding or the promise of one. */
interface StartedRow {
  readonly item: Item | null;
  readonly finding: Finding | Promise<Finding>;
}

export type StartRow = (row: Row, signal: AbortSignal) => StartedRow;

/** How a run handles the rows of an input: reading, looking up and writing. */
export interface RowJob {
  /**
   * Format of the input. Waits for the first bytes if neither a flag nor the file name tells it.
   */
  inputFormat(): Promise<SourceFormat>;
  /** Options that affect reading, by flag name. A resumed run must have the same. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Opens the input, at the interrupted run's position or at the start. */
  open(resume: SourcePosition | null): Promise<OpenedSource>;
  /** Starts each row's lookup. */
  start(lookup: Lookup): StartRow;
  /** False: partial answers in a cache are requested again. @default true */
  readonly partialsFromCache?: boolean;
  /** True: the rows already hold invented answers. @default false */
  readonly synthetic?: boolean;
  /** Wraps the encoder of the output. */
  readonly encoder?: (encoder: Encoder) => Encoder;
  /** Set for a table, which is copied to the run's folder before it is opened. */
  readonly copied?: CopiedInput;
}

/** An input that a run copies first. */
export interface CopiedInput {
  /** The file that holds the table; null for a server. */
  readonly file: string | null;
  readonly copyOf: CopiedFrom;
  /** The copy as input. */
  inFolder(place: CopyPlace): { readonly input: SourceInput } & Pick<RowJob, "open">;
  /** Makes the copy, or checks the one of the interrupted run. @throws ReputeError */
  make(place: CopyPlace, isResumed: boolean): Promise<void>;
}

/** Replaces an input right before it is opened. */
export type PrepareInput = (input: AnyInput, options: InputOptions) => AnyInput | Promise<AnyInput>;

/** The default way for runs and plans to read an input and find its items. */
export function readingOf(
  input: SourceInput,
  settings: ReadingSettings,
  clock: Clock = systemClock,
  prepare: PrepareInput = (input) => input,
): RowJob {
  const detected = "path" in input ? detectSourceFormat(input.path) : null;
  const gzip = detected?.gzip ?? false;
  const comment = settings.comment ?? null;
  const named = settings.from ?? detected?.format ?? null;
  let sniffing: Promise<SniffedInput> | null = null;
  const sniff = (): Promise<SniffedInput> =>
    (sniffing ??=
      named === null
        ? sniffFormat(input, { gzip, comment, clock })
        : Promise.resolve({ input, format: named, comment }));
  const flags = {
    header: settings.header ?? null,
    itemColumn: settings.itemColumn ?? null,
    kindColumn: settings.kindColumn ?? null,
  };
  return {
    inputFormat: async () => (await sniff()).format,
    options: {
      from: named,
      "item-column": flags.itemColumn,
      "kind-column": flags.kindColumn,
      header: flags.header,
      comment,
    },
    open: async (resume) => {
      const sniffed = await sniff();
      const format = resume?.reading.format ?? sniffed.format;
      const guessed = settings.from === undefined;
      const { comment } = sniffed;
      const options = { format, guessed, gzip, ...flags, comment, resume, clock };
      return openSource(await prepare(sniffed.input, { gzip, offset: 0 }), options);
    },
    start: startRow,
  };
}

/** Recognises a row's item and starts its lookup. A row without an item is settled at once. */
function startRow(lookup: Lookup): StartRow {
  return (row, signal) => {
    if (row.fault !== null) return { item: null, finding: unasked("failed", row.fault) };
    if (row.itemNotText === true) return { item: null, finding: unasked("unsupported", notText) };
    const kind = row.kindText === "" ? null : parseKindName(row.kindText);
    const { item, reason } = recogniseItem(row.itemText, kind);
    if (item === null) return { item, finding: unasked("unsupported", reason) };
    return { item, finding: lookup(item, { signal, row: row.number }) };
  };
}

const notText: FindingError = {
  code: "not_text",
  message: itemCodes.not_text[0],
};

/** Reports the columns that were chosen without a flag. */
export function announceReading(
  { onNotice }: { readonly onNotice?: ((message: string) => void) | undefined },
  { item, kind }: InputReading,
): void {
  const { sample } = item;
  const kinds = kind?.by === "neighbour" ? shownColumn(kind) : null;
  if (sample !== null && sample.cells > 0) {
    const { indicators, cells } = sample;
    const found = `${indicators} of ${cells} sampled cells are indicators`;
    const also = kinds === null ? "" : `; ${kinds} holds the kinds`;
    onNotice?.(`using column ${shownColumn(item)} (${found})${also}`);
  } else if (kinds !== null) {
    onNotice?.(`using column ${kinds} for the kinds of items`);
  }
}

/** Maximum number of failed rows: a count, or a percentage of the rows that were looked up. */
export type MaxFailed = { readonly rows: number } | { readonly percent: number };

/** Parses `500` or `50%`. */
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
