import { visible } from "./problem.js";

/** A reference to a value of the case context, such as `s.resolver_data.CustomerEmail`. */
export interface PqlField {
  /** Member names and array indexes from the root of the context. */
  readonly path: readonly (string | number)[];
}

/** An invalid field between `{{` and `}}`. */
interface PqlFault {
  /** Offset of its `{{` in the text. */
  readonly at: number;
  readonly message: string;
}

/** A text split at its fields. */
export interface PqlText {
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
