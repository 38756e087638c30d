import type { JsonObject } from "../../core/finding.js";

/** A line of NDJSON: an object, or why it is none. */
export type ParsedLine =
  | { readonly object: JsonObject; readonly reason: null }
  | { readonly object: null; readonly reason: string };

export function parseRecord(text: string): ParsedLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { object: null, reason: error instanceof Error ? error.message : String(error) };
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return { object: value as JsonObject, reason: null };
  }
  const kind = value === null ? "null" : Array.isArray(value) ? "an array" : `a ${typeof value}`;
  return { object: null, reason: `it is ${kind}` };
}
