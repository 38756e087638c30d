import { z } from "zod";

/**
 * A text with known values. Any text passes: an unknown value is kept and counted as drift. The
 * known values stand in the generated documents as `x-known-values`.
 */
export function openEnum(values: readonly string[], description: string) {
  return z.string().meta({ description, "x-known-values": values });
}

/**
 * A date and time, RFC 3339, kept as received. Any text passes, because a whole answer is worth
 * more than one date; what is no date-time is counted as drift.
 */
export function dateTime(description: string) {
  return z.string().meta({ description, format: "date-time" });
}

/** A text. */
export function text(description: string) {
  return z.string().meta({ description });
}
