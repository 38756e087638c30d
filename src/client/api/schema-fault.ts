import { z } from "zod";

/** Bodies up to this size are checked in one go: they cannot hold many faults. */
const checkedAtOnce = 128 * 1024;

/** Array entries per slice when checking larger bodies. */
const sliceLength = 50_000;

/** Depth of the deepest array in the interface's schemas. */
const arrayLevels = 5;

/**
 * Describes the first violation of a schema, such as `result.tags is missing`; null if there is none.
 * Only checks: the schema's parsed copy is discarded.
 *
 * zod collects every issue, so millions of invalid entries would exhaust memory; arrays of large bodies
 * are therefore checked slice by slice up to the first fault.
 *
 * @param bytes size of the text that the value was parsed from
 * @param root name of the value in the description
 */
export function schemaFault(
  schema: z.ZodType,
  value: unknown,
  bytes: number,
  root: string,
): string | null {
  if (bytes <= checkedAtOnce) return faultOfSlice(schema, value, 0, root);
  let fault: string | null = null;
  let isWhole = false;
  for (let from = 0; fault === null && !isWhole; from += sliceLength) {
    isWhole = true;
    const slice = (part: unknown, levels: number): unknown => {
      if (typeof part !== "object" || part === null || levels === 0) return part;
      if (Array.isArray(part)) {
        isWhole &&= part.length <= from + sliceLength;
        return part.slice(from, from + sliceLength);
      }
      const members = Object.entries(part);
      return Object.fromEntries(members.map(([name, inner]) => [name, slice(inner, levels - 1)]));
    };
    fault = faultOfSlice(schema, slice(value, arrayLevels), from, root);
  }
  return fault;
}

function faultOfSlice(
  schema: z.ZodType,
  value: unknown,
  offset: number,
  root: string,
): string | null {
  if (schema.safeParse(value).success) return null;
  // Keeping the inputs costs three times as much, so only a fault pays for it.
  const issues = schema.safeParse(value, { reportInput: true }).error?.issues ?? [];
  const [issue] = issues;
  if (issue === undefined) return `${root} does not follow the interface`;
  const more = issues.length - 1;
  return `${phrase(issue, offset, root)}${more > 0 ? ` (and ${more} more)` : ""}`;
}

function phrase(issue: z.core.$ZodIssue, offset: number, root: string): string {
  const steps = issue.path.map((step) => (typeof step === "number" ? step + offset : step));
  const where = z.core.toDotPath([root, ...steps]);
  if (issue.input === undefined) return `${where} is missing`;
  if (issue.code === "invalid_type") return `${where} must be of type ${issue.expected}`;
  if (issue.code === "invalid_value") {
    return `${where} must be ${issue.values.map((known) => JSON.stringify(known)).join(" or ")}`;
  }
  return `${where}: ${issue.message}`;
}
