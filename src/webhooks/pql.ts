import { visible } from "./problem.js";

/** A reference to a value of the case context, e.g. `s.resolver_data.CustomerEmail`. */
export interface PqlField {
  /** Member names and array indexes from the root of the context. */
  readonly path: readonly (string | number)[];
}

/** Something between `{{` and `}}` that is no field. */
interface PqlFault {
  /** Offset of its `{{` in the text, from 0. */
  readonly at: number;
  readonly message: string;
}

/** A text taken apart at its fields. */
export interface PqlText {
  /** Static text and fields in order; of a faulty field nothing is kept. */
  readonly parts: readonly (string | PqlField)[];
  readonly faults: readonly PqlFault[];
}

/**
 * Finds the PQL fields of a text. A field is `{{ path }}`, white space optional; a path is a name
 * followed by any number of `.name`, `["any name"]` (a JSON string) and `[0]` (an array index).
 * `{{ "text" }}` is that text itself, so that `{{ "{{" }}` writes two braces. There is nothing
 * else: no operators, no calls. A `}}` without its `{{` is plain text.
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

/** Writes a path as it stands in a payload, without the braces. */
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
 * Follows a path through own members of objects and elements of arrays, and nothing else:
 * no inherited member, no length of an array, no character of a text, never `__proto__`.
 *
 * @returns the value in a box, or null where there is none
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
/** A JSON string (RFC 8259, section 7). */
const string = String.raw`"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"`;
const inBrackets = String.raw`\[\s*(?:\d{1,9}|${string})\s*\]`;
/** The braces and as much of a field as is well written: a string, or a path. */
const fieldStart = String.raw`\{\{\s*(?:(${string})|(${name}(?:\s*(?:\.${name}|${inBrackets}))*))?\s*`;

/** The steps of a path that is well written. */
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
    ? 'there is no field between "{{" and "}}"'
    : 'after "{{" the name of a field must follow, such as s.resolver_data; two braces as text are written {{ "{{" }}';
}

function notClosed(text: string, at: number): string {
  return at >= text.length
    ? '"{{" is never closed with "}}"'
    : `character ${at + 1} cannot stand in a field, which is a path like s.resolver_data.CustomerEmail, items[0] or s.resolver_data["two words"]; expressions are not evaluated`;
}
