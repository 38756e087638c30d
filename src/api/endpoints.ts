import { z } from "zod";
import { type LookupEndpoint, lookupEndpoints } from "../core/finding.js";
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
  queryResultSchema,
  sha1ResultSchema,
  urlResultSchema,
} from "./schema/query-result.js";
import { quickCheckResultSchema } from "./schema/quick-check.js";
import { isKnownType } from "./schema/vocabulary.js";

/** One endpoint that answers for an item, at `/<name>/{item}`. Its columns are in `core/columns.ts`. */
export interface EndpointSpec {
  /** What it tells, and what its full answer is, for documents. */
  readonly summary: string;
  readonly answer: string;
  /** The result of a full answer (200). */
  readonly result: z.ZodType;
  /** The result of a partial answer (503), where the interface has one. */
  readonly partial: z.ZodType | null;
  /** The schema of one result: of several kinds the one that its `type` claims. */
  schemaFor(status: 200 | 503, type: unknown): z.ZodType;
}

/** Every lookup endpoint: what clients, embedded service and documents know of it. */
export const endpoints: Readonly<Record<LookupEndpoint, EndpointSpec>> = {
  query: {
    summary: "What is known of an item",
    answer: "The answer in full",
    result: queryResultSchema,
    partial: partialResultSchema,
    schemaFor: (status, type) =>
      kinds[status].get(type) ?? (isKnownType(type) ? partialResultSchema : unknownKindSchema),
  },
  "quick-check": {
    summary: "A reduced verdict on an item",
    answer: "The verdict",
    result: quickCheckResultSchema,
    partial: null,
    schemaFor: () => quickCheckResultSchema,
  },
};

/** The endpoint that a path below the base address asks, with the item as it stands there; or null. */
export function lookupInPath(path: string): { endpoint: LookupEndpoint; segment: string } | null {
  const match = lookupPathPattern.exec(path);
  if (match === null) return null;
  return { endpoint: match[1] as LookupEndpoint, segment: match[2]! };
}

const lookupPathPattern = new RegExp(`^/(${lookupEndpoints.join("|")})/([^/?]+)$`);

/** `quick-check` as `quickCheck` (members, operations) or, with `first` upper, `QuickCheck` (schemas). */
export function camelCase(endpoint: LookupEndpoint, first: "lower" | "upper" = "lower"): string {
  const name = endpoint.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  return first === "lower" ? name : name.charAt(0).toUpperCase() + name.slice(1);
}

const simpleKinds = [
  ["URL", urlResultSchema],
  ["SHA1", sha1ResultSchema],
  ["CRYPTO_WALLET", cryptoWalletResultSchema],
  ["EMAIL", emailResultSchema],
] as const;

const kinds: Readonly<Record<200 | 503, ReadonlyMap<unknown, z.ZodType>>> = {
  200: new Map<unknown, z.ZodType>([
    ["IP", ipResultSchema],
    ["IP_BOGON", ipBogonResultSchema],
    ["DOMAIN", domainResultSchema],
    ...simpleKinds,
  ]),
  503: new Map<unknown, z.ZodType>([
    ["IP", partialIpResultSchema],
    ["DOMAIN", partialDomainResultSchema],
    ...simpleKinds,
  ]),
};

/** A kind that the interface does not name passes when the members it shares with others fit them. */
const unknownKindSchema = z.looseObject({
  ...partialIpResultSchema.shape,
  type: z.string(),
  bogon: z.boolean().nullish(),
});
