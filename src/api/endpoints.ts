import { z } from "zod";
import { type LookupEndpoint, lookupEndpoints } from "../core/finding.js";
import {
  partialResults,
  partialResultSchema,
  queryResultSchema,
  results,
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

/** The kinds of result by the names that documents give their schemas: `CryptoWalletResult`. */
export const resultSchemas: Readonly<Record<string, z.ZodType>> = {
  ...Object.fromEntries(
    Object.entries(results).map(([type, schema]) => [
      `${camelCase(type.toLowerCase(), "upper")}Result`,
      schema,
    ]),
  ),
  PartialIpResult: partialResults.IP,
  PartialDomainResult: partialResults.DOMAIN,
  PartialResult: partialResultSchema,
};

/** The endpoint that a path below the base address asks, with the item as it stands there; or null. */
export function lookupInPath(path: string): { endpoint: LookupEndpoint; segment: string } | null {
  const match = lookupPathPattern.exec(path);
  if (match === null) return null;
  return { endpoint: match[1] as LookupEndpoint, segment: match[2]! };
}

const lookupPathPattern = new RegExp(`^/(${lookupEndpoints.join("|")})/([^/?]+)$`);

/** `quick-check` as `quickCheck` (members, operations) or, with `first` upper, `QuickCheck` (schemas). */
export function camelCase(words: string, first: "lower" | "upper" = "lower"): string {
  const name = words.replaceAll(/[-_](\w)/g, (_, letter: string) => letter.toUpperCase());
  return first === "lower" ? name : name.charAt(0).toUpperCase() + name.slice(1);
}

const kinds: Readonly<Record<200 | 503, ReadonlyMap<unknown, z.ZodType>>> = {
  200: new Map(Object.entries(results)),
  503: new Map(Object.entries(partialResults)),
};

/** A kind that the interface does not name passes when the members it shares with others fit them. */
const unknownKindSchema = z.looseObject({
  ...partialResults.IP.shape,
  type: z.string(),
  bogon: z.boolean().nullish(),
});
