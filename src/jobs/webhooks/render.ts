import type { JsonObject } from "../../core/finding.js";
import { childPointer, errorAt, warningAt, type Problem } from "./problem.js";
import { quoted, visible } from "../../core/wording/printable.js";
import { nearestFirst } from "../../core/wording/did-you-mean.js";

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
 * Values are looked up, never evaluated; `parsePql` defines the syntax. The result may share objects
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
      else if (found.value === null && !alone)
        problems.push(warningAt(pointer, "null_in_text", leftOut));
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

const leftOut = "a field in this string is null in the context and is left out";

export function malformedFields(text: PqlText, pointer: string): Problem[] {
  return text.faults.map(({ at, message }) =>
    errorAt(pointer, "malformed_field", `in the field at character ${at + 1}: ${message}`),
  );
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

interface MissingField {
  readonly field: PqlField;
  readonly pointer: string;
}

/** Reports each missing field, and with the last one the nearest existing fields. */
function unknownFields(missing: readonly MissingField[], context: unknown): Problem[] {
  return missing.map(({ field, pointer }, index) => {
    const name = formatPath(field.path);
    const list = index < missing.length - 1 ? "" : `. ${existing(name, context)}`;
    const message = `the context has no field ${name.length <= maxNameLength ? name : quoted(name, maxNameLength)}${list}`;
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

/** A reference to a value of the case context, such as `s.resolver_data.CustomerEmail`. */
interface PqlField {
  /** Member names and array indexes from the root of the context. */
  readonly path: readonly (string | number)[];
}

interface PqlFault {
  /** Offset of its `{{` in the text. */
  readonly at: number;
  readonly message: string;
}

/** A text split at its fields. */
interface PqlText {
  /** Static text and fields in order, without invalid fields. */
  readonly parts: readonly (string | PqlField)[];
  readonly faults: readonly PqlFault[];
}

/**
 * Finds the PQL fields of a text. A field is `{{ path }}`, with optional white space; a path is a
 * name followed by any number of `.name`, `["any name"]` (a JSON string) and `[0]` (an array
 * index). `{{ "text" }}` yields the text itself, so `{{ "{{" }}` writes two braces. There are no
 * operators and no calls. A `}}` without `{{` is plain text.
 */
export function parsePql(text: string): PqlText {
  const parts: (string | PqlField)[] = [];
  const faults: PqlFault[] = [];
  const field = new RegExp(fieldStart, "uy");
  let done = 0;
  for (let open = text.indexOf("{{"); open !== -1; open = text.indexOf("{{", done)) {
    if (open > done) parts.push(text.slice(done, open));
    field.lastIndex = open;
    const [start = "", quoted, path] = field.exec(text) ?? [];
    const end = open + start.length;
    const isWritten = quoted !== undefined || path !== undefined;
    if (isWritten && text.startsWith("}}", end)) {
      parts.push(quoted === undefined ? { path: readPath(path ?? "") } : unquoted(quoted));
      done = end + 2;
    } else {
      faults.push({ at: open, message: isWritten ? notClosed(text, end) : noName(text, end) });
      const close = text.indexOf("}}", open);
      done = close === -1 ? text.length : close + 2;
    }
  }
  if (done < text.length) parts.push(text.slice(done));
  return { parts, faults };
}

/** Formats a path as in a payload, but without braces. */
export function formatPath(path: readonly (string | number)[]): string {
  return path
    .map((step, index) => {
      if (typeof step === "number") return `[${step}]`;
      if (!/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(step)) return `[${visible(step)}]`;
      return index === 0 ? step : `.${step}`;
    })
    .join("");
}

/**
 * Follows a path through own members of objects and elements of arrays only: no inherited members,
 * array lengths or characters of strings, and never `__proto__`.
 *
 * @returns the boxed value, or null if there is none
 */
export function readField(
  context: unknown,
  path: readonly (string | number)[],
): { readonly value: unknown } | null {
  let value = context;
  for (const step of path) {
    if (typeof value !== "object" || value === null || step === "__proto__") return null;
    if (Array.isArray(value) !== (typeof step === "number") || !Object.hasOwn(value, step)) {
      return null;
    }
    value = (value as Record<string | number, unknown>)[step];
  }
  return value === undefined ? null : { value };
}

const name = String.raw`[\p{L}_$][\p{L}\p{N}_$-]*`;
/** A JSON string (RFC 8259 section 7). */
const string = String.raw`"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"`;
const inBrackets = String.raw`\[\s*(?:\d{1,9}|${string})\s*\]`;
/** The opening braces, and a string or path up to where it stops being valid. */
const fieldStart = String.raw`\{\{\s*(?:(${string})|(${name}(?:\s*(?:\.${name}|${inBrackets}))*))?\s*`;

function readPath(path: string): readonly (string | number)[] {
  const steps = new RegExp(String.raw`${name}|\d{1,9}(?=\s*\])|${string}`, "gu");
  return [...path.matchAll(steps)].map(([step]) => {
    if (step.startsWith('"')) return unquoted(step);
    return /^\d/.test(step) ? Number(step) : step;
  });
}

function unquoted(text: string): string {
  return JSON.parse(text) as string;
}

function noName(text: string, at: number): string {
  return text.startsWith("}}", at)
    ? 'there is no field between "{{" and "}}"; name one, such as {{ s.resolver_data }}'
    : 'the name of a field must follow "{{", such as s.resolver_data; to write two braces as text, use {{ "{{" }}';
}

function notClosed(text: string, at: number): string {
  return at >= text.length
    ? '"{{" has no closing "}}"'
    : `character ${at + 1} is not allowed in a field; write a path such as s.resolver_data.CustomerEmail, items[0] or s.resolver_data["two words"] (expressions are not evaluated)`;
}
