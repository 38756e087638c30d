import { visible } from "./visible.js";

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
  let open = text.indexOf("{{");
  if (open === -1) return { parts: text === "" ? [] : [text], faults: [] };
  const parts: (string | PqlField)[] = [];
  const faults: PqlFault[] = [];
  let done = 0;
  while (open !== -1) {
    if (open > done) parts.push(text.slice(done, open));
    const { part, end } = parseField(text, open);
    if (typeof part === "object" && "message" in part) {
      faults.push(part);
      const close = text.indexOf("}}", open);
      done = close === -1 ? text.length : close + 2;
    } else {
      parts.push(part);
      done = end;
    }
    open = text.indexOf("{{", done);
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

function parseField(
  text: string,
  open: number,
): { readonly part: string | PqlField | PqlFault; readonly end: number } {
  const fail = (message: string) => ({ part: { at: open, message }, end: open });
  let at = skipSpace(text, open + 2);
  const literal = readString(text, at);
  const path: (string | number)[] = [];
  if (literal) {
    at = literal.end;
  } else {
    const root = matchName(text, at);
    if (root === "") {
      return fail(
        text.startsWith("}}", at)
          ? 'there is no field between "{{" and "}}"'
          : 'after "{{" the name of a field must follow, such as s.resolver_data; two braces as text are written {{ "{{" }}',
      );
    }
    path.push(root);
    at = skipSpace(text, at + root.length);
    for (let step = readStep(text, at); step; step = readStep(text, at)) {
      path.push(step.name);
      at = skipSpace(text, step.end);
    }
  }
  at = skipSpace(text, at);
  if (text.startsWith("}}", at)) return { part: literal ? literal.name : { path }, end: at + 2 };
  if (at >= text.length) return fail('"{{" is never closed with "}}"');
  return fail(
    `character ${at + 1} cannot stand in a field, which is a path like s.resolver_data.CustomerEmail, items[0] or s.resolver_data["two words"]; expressions are not evaluated`,
  );
}

interface Step {
  readonly name: string | number;
  readonly end: number;
}

function readStep(text: string, at: number): Step | null {
  if (text[at] === ".") {
    const member = matchName(text, at + 1);
    return member === "" ? null : { name: member, end: at + 1 + member.length };
  }
  if (text[at] !== "[") return null;
  const start = skipSpace(text, at + 1);
  const digits = match(/\d{1,9}/y, text, start);
  const step =
    digits === "" ? readString(text, start) : { name: Number(digits), end: start + digits.length };
  if (!step) return null;
  const close = skipSpace(text, step.end);
  return text[close] === "]" ? { name: step.name, end: close + 1 } : null;
}

function readString(text: string, at: number): { name: string; end: number } | null {
  if (text[at] !== '"') return null;
  for (let end = at + 1; end < text.length; end += 1) {
    if (text[end] === "\\") {
      end += 1;
    } else if (text[end] === '"') {
      try {
        return { name: JSON.parse(text.slice(at, end + 1)) as string, end: end + 1 };
      } catch {
        return null;
      }
    }
  }
  return null;
}

function skipSpace(text: string, at: number): number {
  return at + match(/\s*/y, text, at).length;
}

function matchName(text: string, at: number): string {
  return match(/[\p{L}_$][\p{L}\p{N}_$-]*/uy, text, at);
}

function match(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}
