import type { z } from "zod";

/** Bodies up to this size are checked at once: they have no room for very many faults. */
const checkedAtOnce = 128 * 1024;

/** Entries of an array that are checked at a time in a larger body. */
const sliceLength = 50_000;

/** Levels at which a schema of the interface has arrays; below, nothing is checked. */
const arrayLevels = 5;

/**
 * Says where a value departs from a schema, as a phrase such as `result.tags is missing`; null when
 * it follows. The value itself is what goes on: the schema's own copy is not used.
 *
 * A schema library reports every fault, so millions of wrong entries would exhaust the memory;
 * arrays of a large body are therefore checked slice by slice, up to the first fault.
 *
 * @param bytes length of the text that the value was read from
 * @param root what the value is called in the phrase
 */
export function schemaFault(
  schema: z.ZodType,
  value: unknown,
  bytes: number,
  root: string,
): string | null {
  if (bytes <= checkedAtOnce) return faultOfSlice(schema, value, 0, root);
  for (let from = 0; ; from += sliceLength) {
    const part = slice(value, from, arrayLevels);
    const fault = faultOfSlice(schema, part.value, from, root);
    if (fault !== null || !part.more) return fault;
  }
}

function faultOfSlice(
  schema: z.ZodType,
  value: unknown,
  offset: number,
  root: string,
): string | null {
  const parsed = schema.safeParse(value);
  if (parsed.success) return null;
  const issue = parsed.error.issues[0];
  if (issue === undefined) return `${root} does not follow the interface`;
  const more = parsed.error.issues.length - 1;
  return `${phrase(issue, value, offset, root)}${more > 0 ? ` (and ${more} more)` : ""}`;
}

function phrase(issue: z.core.$ZodIssue, value: unknown, offset: number, root: string): string {
  const where = pathText(issue.path, offset, root);
  if (valueAt(value, issue.path) === undefined) return `${where} is missing`;
  if (issue.code === "invalid_type") return `${where} must be of type ${issue.expected}`;
  if (issue.code === "invalid_value") {
    return `${where} must be ${issue.values.map((known) => JSON.stringify(known)).join(" or ")}`;
  }
  return `${where}: ${issue.message}`;
}

function pathText(path: readonly PropertyKey[], offset: number, root: string): string {
  return path.reduce<string>(
    (text, step) =>
      typeof step === "number" ? `${text}[${step + offset}]` : `${text}.${String(step)}`,
    root,
  );
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at: unknown = value;
  for (const step of path) {
    if (typeof at !== "object" || at === null) return undefined;
    at = (at as Readonly<Record<PropertyKey, unknown>>)[step];
  }
  return at;
}

interface Slice {
  readonly value: unknown;
  /** Whether an array has entries behind this slice. */
  readonly more: boolean;
}

function slice(value: unknown, from: number, levels: number): Slice {
  if (typeof value !== "object" || value === null || levels === 0) return { value, more: false };
  if (Array.isArray(value)) {
    const to = from + sliceLength;
    return { value: value.slice(from, to), more: value.length > to };
  }
  let more = false;
  const copy = new Map<string, unknown>();
  for (const [member, content] of Object.entries(value)) {
    const part = slice(content, from, levels - 1);
    more ||= part.more;
    copy.set(member, part.value);
  }
  return { value: Object.fromEntries(copy), more };
}
