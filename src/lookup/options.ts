import { z } from "zod";
import { duration, isQuota, option, type Rate, rate, wholeNumber } from "../core/options.js";
import { isRedisAddress, priorities, redisAddress } from "../store/redis/redis-address.js";
import { lookupEndpoints } from "../core/finding.js";

/** Values of `--lookups`. `triage` runs the query only if the quick check shows something. */
const lookupChoices = [...lookupEndpoints, "triage"] as const;

export type LookupChoice = (typeof lookupChoices)[number];

const lookupsList: z.ZodType<readonly LookupChoice[], string | readonly LookupChoice[]> = z
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

function checkCacheAddress(text: string, context: z.RefinementCtx): void {
  const fault = isRedisAddress(text) ? redisAddress().safeParse(text).error : undefined;
  for (const { message } of fault?.issues ?? []) context.addIssue({ code: "custom", message });
}

export const lookupOptions = z.strictObject({
  lookups: option(lookupsList.prefault("query,quick-check"), {
    common: true,
    description: `Endpoints to query for each item: ${lookupEndpoints.join(",")}, ${lookupEndpoints.join(", ")}, or triage. triage does the quick check first and the query only if it shows something`,
    value: "LIST",
  }),
  bogons: option(z.enum(["ask", "local"]).optional(), {
    rare: true,
    description:
      "How to answer IP addresses in reserved ranges: local, without a request, or ask the service [default local, ask with --local]",
    value: "HOW",
  }),
  exclude: option(paths().optional(), {
    description:
      "List of what must not be sent: addresses, networks (192.0.2.0/24), domains with all below them, e-mail domains (@corp.example) and single items, one per line, or a warning list of MISP. A URL is judged by its host. Rows with such items are unsupported. Repeat it for several lists",
    value: "FILE",
    repeats: true,
  }),
  urlQuery: option(z.enum(["keep", "strip"]).default("keep"), {
    rare: true,
    description: "strip sends URLs without their query and fragment",
    value: "HOW",
  }),
  cache: option(z.string().min(1).superRefine(checkCacheAddress).optional(), {
    common: true,
    description:
      "Folder of cached answers, or redis://HOST[:PORT]/DB (rediss:// for TLS) to share them between machines. Fresh ones are used instead of a request; several runs can share a folder",
    value: "DIR",
  }),
  cacheTtl: option(duration().prefault("24h"), {
    rare: true,
    description:
      "How long cached answers stay fresh. Partial answers expire after TTL/24, reserved ranges after 30 times the TTL",
    value: "TIME",
  }),
  concurrency: option(wholeNumber(1, 4096).prefault(32), {
    description: "Maximum number of open requests",
    value: "N",
  }),
  rate: option(rates().optional(), {
    common: true,
    description:
      "Rate limit for all endpoints together: N/s, N/m, N/h or N/d [default 100/s, none with --local]. Repeat it to combine limits. Hourly and daily limits are quotas, in addition to the default: counted per service address in your state folder, across runs",
    value: "N/s",
    repeats: true,
  }),
  pace: option(redisAddress().optional(), {
    description:
      "Share rates, quotas and pauses with all runs that name the same Redis, redis://HOST[:PORT]/DB or rediss://, and ask the same service. While Redis is away, nothing is sent",
    value: "URL",
  }),
  priority: option(z.enum(priorities).optional(), {
    rare: true,
    description:
      "Priority among the runs with the same --pace: high, normal or low [default normal]",
    value: "LEVEL",
  }),
  retries: option(wholeNumber(0, 100).prefault(5), {
    description: "Retries of a lookup after a network error, a server error or throttling",
    value: "N",
  }),
  outagePatience: option(duration().prefault("10m"), {
    rare: true,
    description:
      "How long to wait while every request fails, 15s at most before the first answer, 2s for a host name that cannot be resolved. The service is probed meanwhile; then the run stops and can be resumed",
    value: "TIME",
  }),
  partialRetries: option(wholeNumber(0, 100).prefault(2), {
    rare: true,
    description: "How often to re-ask for a partial answer",
    value: "N",
  }),
});

/** What to look up, how fast, and how often to retry. */
export type LookupSettings = z.output<typeof lookupOptions>;

/** The rates in force: as given, and 100/s unless they have one below an hour or the service is embedded. */
export function paceOf(rates: readonly Rate[] = [], embedded: boolean): readonly Rate[] {
  if (embedded || !rates.every(isQuota)) return rates;
  return [{ count: 100, perMs: 1000 }, ...rates];
}

/** `100/s`, `600/m`, `5000/h`, `10000/d`, several joined by commas, or the same as objects. */
export type RateOption = string | Rate | readonly (string | Rate)[];

function rates(): z.ZodType<readonly Rate[], RateOption> {
  const one = rate();
  return z
    .union([
      z.string(),
      z.array(z.custom<string | Rate>()),
      z.custom<Rate>((value) => typeof value === "object"),
    ])
    .transform((value) =>
      typeof value === "string" ? value.split(",") : Array.isArray(value) ? value : [value],
    )
    .pipe(z.array(one).min(1));
}

function paths(): z.ZodType<readonly string[], string | readonly string[]> {
  return z
    .string()
    .transform((text) => text.split(",").map((path) => path.trim()))
    .or(z.array(z.string()))
    .pipe(z.array(z.string().min(1)).min(1));
}
