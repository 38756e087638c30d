import { z } from "zod";
import type { JsonObject, LookupEndpoint } from "../core/finding.js";
import { endpoints } from "./endpoints.js";
import { mailBlocklist } from "./schema/drift.js";
import { schemaFault } from "./schema-fault.js";

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
