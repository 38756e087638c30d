import type { z } from "zod";
import { UsageError } from "../../core/errors.js";
import { firstIssue } from "./record-schemas.js";

/** A value of the dataset and its place, such as `items.ndjson:4`. */
export interface Placed<T = unknown> {
  readonly value: T;
  readonly where: string;
}

/**
 * Validates a value and returns it as written, with its members in their order.
 *
 * @throws UsageError `dataset_invalid`
 */
export function checked<S extends z.ZodType>(schema: S, record: Placed): z.input<S> {
  const parsed = schema.safeParse(record.value);
  if (!parsed.success) throw invalid(record, firstIssue(parsed.error));
  return record.value as z.input<S>;
}

export function invalid(record: Pick<Placed, "where">, what: string): UsageError {
  return new UsageError("dataset_invalid", `${record.where}: ${what}`, {
    hint: "see samples/dataset/README.md for the files of a dataset",
  });
}

/** Quotes a text for a message. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
