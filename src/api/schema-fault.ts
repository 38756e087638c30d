import { z } from "zod";
import type { JsonObject, LookupEndpoint } from "../core/finding.js";
import { endpoints } from "./endpoints.js";
import { mailBlocklist } from "./schema/drift.js";

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

/**
 * Says where the result of a lookup departs from the interface; null when it follows.
 *
 * The deployed service names the mail blocklist member `abusixMailBlocklist`; a result that has
 * that name instead of the interface's is held to the same rules under it.
 *
 * @param status of the answer: a result in full (200), or with gaps (503)
 * @param bytes length of the text that the result was read from
 */
export function resultFault(
  endpoint: LookupEndpoint,
  status: 200 | 503,
  result: JsonObject,
  bytes: number,
): string | null {
  const { specified, deployed } = formsOf(endpoints[endpoint].schemaFor(status, result["type"]));
  const isDeployed =
    result["serviceMailBlocklist"] === undefined && result["abusixMailBlocklist"] !== undefined;
  return schemaFault(isDeployed ? deployed : specified, result, bytes, "result");
}

/**
 * The top-level members that are null in a partial result, in the order of the interface; an
 * absent member counts as null (interface: Partial result). The mail blocklist status goes by the
 * interface's name, whichever name the service used.
 */
export function missingMembers(endpoint: LookupEndpoint, result: JsonObject): string[] {
  const { nullable } = formsOf(endpoints[endpoint].schemaFor(503, result["type"]));
  return nullable.filter((member) =>
    member === "serviceMailBlocklist"
      ? mailBlocklist(result) === null
      : (result[member] ?? null) === null,
  );
}

interface Forms {
  readonly specified: z.ZodType;
  /** With the deployed service's name of the mail blocklist member. */
  readonly deployed: z.ZodType;
  /** Members that may be null. */
  readonly nullable: readonly string[];
}

const forms = new WeakMap<z.ZodType, Forms>();

function formsOf(schema: z.ZodType): Forms {
  let known = forms.get(schema);
  if (known === undefined) {
    known = makeForms(schema);
    forms.set(schema, known);
  }
  return known;
}

function makeForms(specified: z.ZodType): Forms {
  if (!(specified instanceof z.ZodObject)) return { specified, deployed: specified, nullable: [] };
  const shape = specified.shape as Readonly<Record<string, z.ZodType>>;
  const nullable = Object.keys(shape).filter((name) => shape[name]!.safeParse(null).success);
  const { serviceMailBlocklist, ...others } = shape;
  const deployed =
    serviceMailBlocklist === undefined
      ? specified
      : z.looseObject({ ...others, abusixMailBlocklist: serviceMailBlocklist });
  return { specified, deployed, nullable };
}
