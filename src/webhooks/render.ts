import type { JsonObject } from "../core/finding.js";
import { unknownFields, type MissingField } from "./fields.js";
import { deepestJson } from "./json-fault.js";
import { parsePql, readField, type PqlText } from "./pql.js";
import { childPointer, errorAt, type Problem, refuseErrors, warningAt } from "./problem.js";

/**
 * Puts the values of a case context in the place of a payload's PQL fields (behaviour: Webhooks).
 *
 * - A text that is one field and nothing else becomes the value itself, whatever its JSON type.
 * - Inside text a value is written out: objects and arrays as JSON, null as nothing.
 * - Names of members stay as they are. What has no field in it comes out unchanged.
 *
 * Values are looked up, never evaluated: see `pql.ts` for what a field is. The result may share
 * objects with the context.
 *
 * @throws WebhookError that names every field which the context lacks (`unknown_field`) or which
 *   is miswritten (`malformed_field`), each with its place
 */
export function renderPayload(payload: unknown, context: JsonObject): unknown {
  const { value, problems } = renderCollecting(payload, context);
  refuseErrors(problems);
  return value;
}

/** The result of rendering; use the value only when no problem is an error. */
export interface Rendering {
  readonly value: unknown;
  /** Errors, and a warning for each null that was written into text. */
  readonly problems: readonly Problem[];
}

/** As {@link renderPayload}, with the problems as data. */
export function renderCollecting(payload: unknown, context: JsonObject): Rendering {
  const problems: Problem[] = [];
  const missing: MissingField[] = [];

  const render = (value: unknown, pointer: string, depth: number): unknown => {
    if (typeof value === "string") return renderText(value, pointer);
    if (typeof value !== "object" || value === null) return value;
    if (depth === deepestJson) {
      const message = `nested deeper than ${deepestJson} levels`;
      problems.push(errorAt(pointer, "too_deep", message));
      return null;
    }
    if (Array.isArray(value)) {
      return value.map((element, index) =>
        render(element, childPointer(pointer, index), depth + 1),
      );
    }
    // fromEntries defines members, so that one named __proto__ stays a member.
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

/** What is wrong with the fields of a text, as problems at its place. */
export function malformedFields(text: PqlText, pointer: string): Problem[] {
  return text.faults.map(({ at, message }) =>
    errorAt(pointer, "malformed_field", `in the field at character ${at + 1}: ${message}`),
  );
}

function nullInText(pointer: string): Problem {
  const message = "a field within this text is null in the context and is left out";
  return warningAt(pointer, "null_in_text", message);
}

function joined(values: readonly unknown[], pointer: string, problems: Problem[]): string {
  try {
    return values.map(asText).join("");
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    const message =
      "with its fields filled in, this text is nested too deep, or too large, to be written";
    problems.push(errorAt(pointer, "too_large", message));
    return "";
  }
}

function asText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
