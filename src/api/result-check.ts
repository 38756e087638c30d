import { z } from "zod";
import type { JsonObject, LookupEndpoint } from "../core/finding.js";
import {
  partialDomainResultSchema,
  partialIpResultSchema,
  partialResultSchema,
} from "./schema/partial-result.js";
import {
  cryptoWalletResultSchema,
  domainResultSchema,
  emailResultSchema,
  ipBogonResultSchema,
  ipResultSchema,
  sha1ResultSchema,
  urlResultSchema,
} from "./schema/query-result.js";
import { quickCheckResultSchema } from "./schema/quick-check.js";
import { schemaFault } from "./schema-fault.js";
import { resultTypes } from "./schema/vocabulary.js";

/** How complete a result has to be: in full (200), or with gaps (503). */
export type Completeness = "full" | "partial";

/**
 * Says where the result of a lookup departs from the interface; null when it follows.
 *
 * The deployed service names the mail blocklist member `abusixMailBlocklist`; a result that has
 * that name instead of the interface's is held to the same rules under it. A result of a type that
 * the interface does not name passes when the members that it shares with the others fit them.
 *
 * @param bytes length of the text that the result was read from
 */
export function resultFault(
  endpoint: LookupEndpoint,
  completeness: Completeness,
  result: JsonObject,
  bytes: number,
): string | null {
  const forms = endpoint === "quick-check" ? quickCheck : formsOf(completeness, result["type"]);
  const deployed =
    result["serviceMailBlocklist"] === undefined && result["abusixMailBlocklist"] !== undefined;
  return schemaFault(deployed ? forms.deployed : forms.specified, result, bytes, "result");
}

/** One kind of result, under the interface's names and under the deployed service's. */
interface Forms {
  readonly specified: z.ZodType;
  readonly deployed: z.ZodType;
}

function formsOf(completeness: Completeness, type: unknown): Forms {
  if (typeof type !== "string") return unknownKind;
  const known = kinds[completeness].get(type);
  if (known !== undefined) return known;
  return knownTypes.has(type) ? notPartial : unknownKind;
}

const knownTypes: ReadonlySet<string> = new Set(resultTypes);

const quickCheck = forms(quickCheckResultSchema);

const simpleKinds: readonly (readonly [string, Forms])[] = [
  ["URL", forms(urlResultSchema)],
  ["SHA1", forms(sha1ResultSchema)],
  ["CRYPTO_WALLET", forms(cryptoWalletResultSchema)],
  ["EMAIL", forms(emailResultSchema)],
];

const kinds: Readonly<Record<Completeness, ReadonlyMap<string, Forms>>> = {
  full: new Map([
    ["IP", forms(ipResultSchema)],
    ["IP_BOGON", { specified: ipBogonResultSchema, deployed: ipBogonResultSchema }],
    ["DOMAIN", forms(domainResultSchema)],
    ...simpleKinds,
  ]),
  partial: new Map([
    ["IP", forms(partialIpResultSchema)],
    ["DOMAIN", forms(partialDomainResultSchema)],
    ...simpleKinds,
  ]),
};

/** For IP_BOGON, which is not among the partial kinds: the union says so in its message. */
const notPartial: Forms = { specified: partialResultSchema, deployed: partialResultSchema };

const unknownKind = forms(
  z.looseObject({
    ...partialIpResultSchema.shape,
    type: z.string(),
    bogon: z.boolean().nullish(),
  }),
);

function forms<Shape extends z.ZodRawShape & { serviceMailBlocklist: z.ZodType }>(
  specified: z.ZodObject<Shape>,
): Forms {
  const { serviceMailBlocklist, ...others } = specified.shape;
  return {
    specified,
    deployed: z.looseObject({ ...others, abusixMailBlocklist: serviceMailBlocklist }),
  };
}
