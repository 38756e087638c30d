import { z } from "zod";
import type { MadeUp } from "../../core/finding-source.js";
import type { LookupEndpoint } from "../../core/finding.js";
import type { ResponseHeaders } from "./types.js";
import {
  partialResults,
  partialResultSchema,
  queryResultSchema,
  results,
  quickCheckResultSchema,
} from "./schema/query-result.js";
import { isKnownType } from "./schema/vocabulary.js";

/** Headers of every answer of an embedded service. */
export const madeUpHeaders: Readonly<Record<MadeUp, string>> = {
  sample: "x-sample-data",
  invented: "x-synthetic-data",
};

/** Whether the service says that its answer is made up, and how. */
export function madeUpIn(headers: ResponseHeaders): MadeUp | undefined {
  if (headers[madeUpHeaders.invented] !== undefined) return "invented";
  return headers[madeUpHeaders.sample] === undefined ? undefined : "sample";
}

/** A lookup endpoint, at `/<name>/{item}`. Its columns are in `core/columns.ts`. */
interface EndpointSpec {
  /** Schema of a full answer (200). */
  readonly result: z.ZodType;
  /** Schema of a partial answer (503), if the endpoint has one. */
  readonly partial: z.ZodType | null;
  /** The schema for one result; picks the kind by its `type`. */
  schemaFor(status: 200 | 503, type: unknown): z.ZodType;
}

/** Every lookup endpoint, for clients and embedded service. */
export const endpoints: Readonly<Record<LookupEndpoint, EndpointSpec>> = {
  query: {
    result: queryResultSchema,
    partial: partialResultSchema,
    schemaFor: (status, type) =>
      kinds[status].get(type) ?? (isKnownType(type) ? partialResultSchema : unknownKindSchema),
  },
  "quick-check": {
    result: quickCheckResultSchema,
    partial: null,
    schemaFor: () => quickCheckResultSchema,
  },
};

/** `quick-check` as `quickCheck`. */
export function camelCase(words: string): string {
  return words.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

const kinds: Readonly<Record<200 | 503, ReadonlyMap<unknown, z.ZodType>>> = {
  200: new Map(Object.entries(results)),
  503: new Map(Object.entries(partialResults)),
};

/** An unknown kind passes if the members it shares with known kinds are valid. */
const unknownKindSchema = z.looseObject({
  ...partialResults.IP.shape,
  type: z.string(),
  bogon: z.boolean().nullish(),
});
