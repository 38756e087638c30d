import { z } from "zod";
import { camelCase } from "../api/endpoints.js";
import { duration, option, type Rate, rates, wholeNumber } from "../core/options.js";
import { type LookupEndpoint, lookupEndpoints } from "../core/finding.js";

/** Values of `--lookups`. `triage` runs the query only if the quick check shows something. */
const lookupChoices = [...lookupEndpoints, "triage"] as const;

export type LookupChoice = (typeof lookupChoices)[number];

const lookupsList = z
  .string()
  .or(z.array(z.enum(lookupChoices)))
  .transform((value) => (typeof value === "string" ? value.split(",").map((s) => s.trim()) : value))
  .pipe(
    z
      .array(
        z.enum(lookupChoices, {
          error: `must be ${lookupEndpoints.join(", ")}, ${lookupEndpoints.join(",")} or triage`,
        }),
      )
      .min(1)
      .refine((names) => !names.includes("triage") || names.length === 1, {
        error: "must be triage alone or endpoints",
      }),
  )
  .transform((names) => [...new Set(names)]);

/** Name of the option with an endpoint's own rate: `rateQuery`, `rateQuickCheck`. */
type RateKey<Endpoint extends string = LookupEndpoint> = `rate${PascalCase<Endpoint>}`;

type PascalCase<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${Capitalize<First>}${PascalCase<Rest>}`
  : Capitalize<Name>;

function rateKey(endpoint: LookupEndpoint): RateKey {
  return `rate${camelCase(endpoint, "upper")}` as RateKey;
}

/** Rates of single endpoints. */
export type EndpointRates = { readonly [Key in RateKey]?: readonly Rate[] | undefined };

/** An endpoint's own rates. */
export function ratesOf(endpoint: LookupEndpoint, settings: EndpointRates): readonly Rate[] {
  return settings[rateKey(endpoint)] ?? [];
}

function rateOptions(): Record<RateKey, z.ZodOptional<ReturnType<typeof rates>>> {
  const options = lookupEndpoints.map((endpoint) => [
    rateKey(endpoint),
    option(rates().optional(), {
      description: `The same for the ${endpoint.replaceAll("-", " ")} alone, kept beside --rate`,
      value: "N/s",
      repeats: true,
    }),
  ]);
  return Object.fromEntries(options) as ReturnType<typeof rateOptions>;
}

/** What to look up, how fast, and how often to retry. */
export const lookupOptions = z.strictObject({
  lookups: option(lookupsList.prefault("query,quick-check"), {
    common: true,
    description: `Endpoints asked for each item: ${lookupEndpoints.join(",")}, ${lookupEndpoints.join(" or ")}; or triage: the quick check, and the query where it shows something`,
    value: "LIST",
  }),
  bogons: option(z.enum(["ask", "local"]).default("ask"), {
    description:
      "IP addresses in reserved ranges: ask the service, or answer them here (local) without a request",
    value: "HOW",
  }),
  cache: option(z.string().min(1).optional(), {
    common: true,
    description:
      "Folder that keeps answers for later runs; several runs may use it at once. An answer that is fresh there is not asked for",
    value: "DIR",
  }),
  cacheTtl: option(duration().prefault("24h"), {
    description:
      "How long an answer of the cache is fresh; of it a partial answer 1/24, an address in a reserved range 30 times as long",
    value: "TIME",
  }),
  concurrency: option(wholeNumber(1, 4096).prefault(32), {
    description: "Most requests open at once",
    value: "N",
  }),
  rate: option(rates().optional(), {
    common: true,
    description:
      "Most requests in a length of time (s, m, h, d), all endpoints together; may be given several times, all are kept; default 100/s, with --local none. Per hour or day it is a quota: counted by service address in the user's state folder, across runs",
    value: "N/s",
    repeats: true,
  }),
  ...rateOptions(),
  retries: option(wholeNumber(0, 100).prefault(5), {
    description: "How often a lookup is tried again after a passing fault or throttling",
    value: "N",
  }),
  outagePatience: option(duration().prefault("10m"), {
    description:
      "How long to wait for a service from which nothing but errors comes, probing it; then the run ends and can be resumed",
    value: "TIME",
  }),
  partialRetries: option(wholeNumber(0, 100).prefault(2), {
    description: "How often a partial answer is asked for again",
    value: "N",
  }),
});

/** The effective rates: as given, else 100/s, or none for the embedded service. */
export function paceOf(rates: readonly Rate[] | undefined, embedded: boolean): readonly Rate[] {
  return rates ?? (embedded ? [] : [{ count: 100, perMs: 1000 }]);
}
