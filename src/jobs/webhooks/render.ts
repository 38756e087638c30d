import type { JsonObject } from "../../core/finding.js";
import { parsePql, readField, type PqlText, formatPath, type PqlField } from "./pql.js";
import { childPointer, errorAt, type Problem, warningAt, quote } from "./problem.js";
import { nearestFirst } from "../../core/text/did-you-mean.js";

/** The result of rendering. Use the value only if no problem is an error. */
interface Rendering {
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

  const render = (value: unknown, pointer: string): unknown => {
    if (typeof value === "string") return renderText(value, pointer);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) {
      return value.map((element, index) => render(element, childPointer(pointer, index)));
    }
    // `fromEntries` defines own members, even one named __proto__.
    return Object.fromEntries(
      Object.entries(value).map(([member, inner]) => [
        member,
        render(inner, childPointer(pointer, member)),
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
    return alone ? values[0] : values.map(asText).join("");
  };

  let value: unknown = null;
  try {
    value = render(payload, "/payload");
    JSON.stringify(value);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    const message =
      "with its fields filled in, it is nested too deeply or too large; use single fields instead of whole objects";
    problems.push(errorAt("/payload", "too_large", message));
  }
  return { value, problems: [...problems, ...unknownFields(missing, context)] };
}

export function malformedFields(text: PqlText, pointer: string): Problem[] {
  return text.faults.map(({ at, message }) =>
    errorAt(pointer, "malformed_field", `in the field at character ${at + 1}: ${message}`),
  );
}

function nullInText(pointer: string): Problem {
  const message = "a field in this string is null in the context and is left out";
  return warningAt(pointer, "null_in_text", message);
}

function asText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Path of the subscriber data in a case context. */
export const resolverDataPath = ["s", "resolver_data"] as const;

interface ContextValue {
  readonly path: readonly (string | number)[];
  readonly value: unknown;
}

/**
 * All values below a point of the context, breadth first, members in order. Stops after `limit`
 * values, so that a huge context costs no more than a large one.
 */
export function* contextValues(root: ContextValue, limit: number): Generator<ContextValue> {
  const waiting = [root];
  let left = limit;
  for (let at = 0; at < waiting.length; at += 1) {
    const { path, value } = waiting[at] ?? root;
    if (typeof value !== "object" || value === null) continue;
    for (const step of Array.isArray(value) ? value.keys() : Object.keys(value)) {
      if (step === "__proto__") continue;
      if (left === 0) return;
      left -= 1;
      const found = {
        path: [...path, step],
        value: (value as Record<string | number, unknown>)[step],
      };
      waiting.push(found);
      yield found;
    }
  }
}

/** A field that is used but missing from the context, and its place. */
interface MissingField {
  readonly field: PqlField;
  readonly pointer: string;
}

/** Reports each missing field, and with the last one the nearest existing fields. */
function unknownFields(missing: readonly MissingField[], context: unknown): Problem[] {
  return missing.map(({ field, pointer }, index) => {
    const name = formatPath(field.path);
    const list = index < missing.length - 1 ? "" : `. ${existing(name, context)}`;
    const message = `the context has no field ${shorten(name)}${list}`;
    return errorAt(pointer, "unknown_field", message);
  });
}

const maxCompared = 1000;
const maxListed = 10;
const maxNameLength = 120;

/** Names of existing fields. Subscriber data goes first, since most payloads use it. */
function fieldNames(context: unknown): string[] {
  const data = readField(context, resolverDataPath);
  const names = new Set<string>();
  if (data) {
    names.add(formatPath(resolverDataPath));
    for (const found of contextValues({ path: resolverDataPath, value: data.value }, maxCompared)) {
      names.add(formatPath(found.path));
    }
  }
  for (const found of contextValues({ path: [], value: context }, maxCompared)) {
    if (typeof found.path[0] === "string") names.add(formatPath(found.path));
  }
  return [...names].filter((name) => name.length <= maxNameLength);
}

function existing(name: string, context: unknown): string {
  const data = readField(context, resolverDataPath);
  const none = !data || data.value === null ? " No subscriber was resolved for this case." : "";
  const names = nearestFirst(name, fieldNames(context));
  if (names.length === 0) return `The context has no fields.${none}`;
  const left = names.length - maxListed;
  const more = left > 0 ? `, … and ${left} more` : "";
  return `Existing fields: ${names.slice(0, maxListed).join(", ")}${more}.${none}`;
}

function shorten(name: string): string {
  return name.length <= maxNameLength ? name : quote(name, maxNameLength);
}
