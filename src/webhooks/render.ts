import type { JsonObject } from "../core/finding.js";
import { unknownFields, type MissingField } from "./fields.js";
import { parsePql, readField, type PqlText } from "./pql.js";
import { childPointer, errorAt, type Problem, warningAt } from "./problem.js";

/** Maximum nesting depth. Beyond it, recursion over the value might overflow the stack. */
const maxDepth = 100;

/** The result of rendering. Use the value only if no problem is an error. */
export interface Rendering {
  readonly value: unknown;
  /** Errors, and a warning for each null written into a string. */
  readonly problems: readonly Problem[];
}

/**
 * Replaces the PQL fields of a payload with values of a case context.
 *
 * - A string that is a single field becomes the value itself, of any JSON type.
 * - Within a longer string, objects and arrays are written as JSON, and null as nothing.
 * - Member names, and strings without fields, stay as they are.
 *
 * Values are looked up, never evaluated; `pql.ts` defines the syntax. The result may share objects
 * with the context. The problems hold every missing (`unknown_field`) or invalid (`malformed_field`)
 * field and its place.
 */
export function renderCollecting(payload: unknown, context: JsonObject): Rendering {
  const problems: Problem[] = [];
  const missing: MissingField[] = [];

  const render = (value: unknown, pointer: string, depth: number): unknown => {
    if (typeof value === "string") return renderText(value, pointer);
    if (typeof value !== "object" || value === null) return value;
    if (depth === maxDepth) {
      const message = `nested deeper than ${maxDepth} levels; send single fields instead of whole objects`;
      problems.push(errorAt(pointer, "too_deep", message));
      return null;
    }
    if (Array.isArray(value)) {
      return value.map((element, index) =>
        render(element, childPointer(pointer, index), depth + 1),
      );
    }
    // `fromEntries` defines own members, even one named __proto__.
    return Object.fromEntries(
      Object.entries(value).map(([member, inner]) => [
        member,
        render(inner, childPointer(pointer, member), depth + 1),
      ]),
    );
  };

  const renderText = (text: string, pointer: string): unknown => {
    if (!text.includes("{{")) return text;
    const parsed = parsePql(text);
    problems.push(...malformedFields(parsed, pointer));
    const alone = parsed.parts.length === 1 && parsed.faults.length === 0;
    const values = parsed.parts.map((part) => {
      if (typeof part === "string") return part;
      const found = readField(context, part.path);
      if (!found) missing.push({ field: part, pointer });
      else if (found.value === null && !alone) problems.push(nullInText(pointer));
      return found?.value;
    });
    return alone ? values[0] : joined(values, pointer, problems);
  };

  const value = render(payload, "/payload", 0);
  return { value, problems: [...problems, ...unknownFields(missing, context)] };
}

/** The invalid fields of a text as problems at its place. */
export function malformedFields(text: PqlText, pointer: string): Problem[] {
  return text.faults.map(({ at, message }) =>
    errorAt(pointer, "malformed_field", `in the field at character ${at + 1}: ${message}`),
  );
}

function nullInText(pointer: string): Problem {
  const message = "a field in this string is null in the context and is left out";
  return warningAt(pointer, "null_in_text", message);
}

function joined(values: readonly unknown[], pointer: string, problems: Problem[]): string {
  try {
    return values.map(asText).join("");
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    const message =
      "with its fields filled in, this string is nested too deeply or too large; use single fields instead of whole objects";
    problems.push(errorAt(pointer, "too_large", message));
    return "";
  }
}

function asText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
