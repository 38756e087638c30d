import type { JsonObject } from "../../core/finding.js";
import { errorAt, pointerOf, warningAt, type Problem } from "./problem.js";
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

  const render = (value: unknown, path: Path): unknown => {
    if (typeof value === "string") return renderText(value, pointerOf(path));
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((inner, index) => render(inner, [...path, index]));
    const members = Object.entries(value);
    // `fromEntries` defines own members, even one named __proto__.
    return Object.fromEntries(
      members.map(([name, inner]) => [name, render(inner, [...path, name])]),
    );
  };

  const renderText = (text: string, pointer: string): unknown => {
    const parsed = parsePql(text);
    problems.push(...malformedFields(parsed, pointer));
    const alone = parsed.parts.length === 1 && parsed.faults.length === 0;
    const values = parsed.parts.map((part) => {
      if (typeof part === "string") return part;
      const found = readField(context, part.path);
      if (!found) missing.push({ path: part.path, pointer });
      else if (found.value === null && !alone) {
        problems.push(warningAt(pointer, "null_in_text", leftOut));
      }
      return found?.value;
    });
    return alone ? values[0] : values.map(asText).join("");
  };

  let value: unknown = null;
  try {
    value = render(payload, ["payload"]);
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

/** Member names and array indexes from the root of a value. */
type Path = readonly (string | number)[];

/**
 * A value and all values below it, breadth first, members in order. Stops after `limit` values, so that
 * a huge context costs no more than a large one.
 */
export function* valuesIn(root: unknown, place: Path, limit: number) {
  const waiting = [{ path: place, value: root }];
  for (const found of waiting) {
    yield found;
    const { path, value } = found;
    if (typeof value !== "object" || value === null) continue;
    for (const [step, inner] of stepsInto(value)) {
      if (waiting.length >= limit) break;
      waiting.push({ path: [...path, step], value: inner });
    }
  }
}

function stepsInto(value: object): readonly (readonly [string | number, unknown])[] {
  if (Array.isArray(value)) return [...value.entries()];
  return Object.entries(value).filter(([name]) => name !== "__proto__");
}

interface MissingField {
  readonly path: Path;
  readonly pointer: string;
}

const maxCompared = 1000;
const maxListed = 10;
const maxNameLength = 120;

/** Reports each missing field, and with the last one the nearest existing fields. */
function unknownFields(missing: readonly MissingField[], context: unknown): Problem[] {
  return missing.map(({ path, pointer }, index) => {
    const name = formatPath(path);
    const shown = name.length <= maxNameLength ? name : quoted(name, maxNameLength);
    const list = index < missing.length - 1 ? "" : `. ${existing(name, context)}`;
    return errorAt(pointer, "unknown_field", `the context has no field ${shown}${list}`);
  });
}

function existing(name: string, context: unknown): string {
  const data = readField(context, resolverDataPath);
  const none = !data || data.value === null ? " No subscriber was resolved for this case." : "";
  // Subscriber data goes first, since most payloads use it.
  const found = [
    ...(data ? valuesIn(data.value, resolverDataPath, maxCompared) : []),
    ...valuesIn(context, [], maxCompared),
  ];
  const all = found.map(({ path }) => formatPath(path));
  const short = [...new Set(all)].filter((each) => each !== "" && each.length <= maxNameLength);
  if (short.length === 0) return `The context has no fields.${none}`;
  const left = short.length - maxListed;
  const more = left > 0 ? `, … and ${left} more` : "";
  const nearest = nearestFirst(name, short).slice(0, maxListed);
  return `Existing fields: ${nearest.join(", ")}${more}.${none}`;
}

/** A text split at its fields. */
interface PqlText {
  /** Static text and fields, such as `s.resolver_data.CustomerEmail`, in order, without invalid fields. */
  readonly parts: readonly (string | { readonly path: Path })[];
  /** Invalid fields, each at the offset of its `{{`. */
  readonly faults: readonly { readonly at: number; readonly message: string }[];
}

/**
 * Finds the PQL fields of a text. A field is `{{ path }}`, with optional white space; a path is a
 * name followed by any number of `.name`, `["any name"]` (a JSON string) and `[0]` (an array
 * index). `{{ "text" }}` yields the text itself, so `{{ "{{" }}` writes two braces. There are no
 * operators and no calls. A `}}` without `{{` is plain text.
 */
export function parsePql(text: string): PqlText {
  const parts: PqlText["parts"][number][] = [];
  const faults: PqlText["faults"][number][] = [];
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
export function formatPath(path: Path): string {
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
export function readField(context: unknown, path: Path): { readonly value: unknown } | null {
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

function readPath(path: string): Path {
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
