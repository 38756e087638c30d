import { z } from "zod";
import {
  duration,
  isQuota,
  namesAmong,
  option,
  type Rate,
  rate,
  wholeNumber,
} from "../../core/options.js";
import { UsageError } from "../../core/errors.js";
import { redisAddress } from "../../core/redis.js";
import { lookupEndpoints } from "../../core/finding.js";

/** Values of `--lookups`. `triage` runs the query only if the quick check shows something. */
const lookupChoices = [...lookupEndpoints, "triage"] as const;

type LookupChoice = (typeof lookupChoices)[number];

const lookupsList: z.ZodType<readonly LookupChoice[], string | readonly string[]> = namesAmong(
  lookupChoices,
  "lookup",
).refine((names) => !names.includes("triage") || names.length === 1, {
  error: "must be triage alone or endpoints",
});

const startWorkers =
  "to use the processors of one machine, start a Redis with redis-server, and for each worker: repute worker redis://127.0.0.1/0";

/** How often, and for how long, to try again. */
const retryOptions = {
  retries: option(wholeNumber(0, 100).prefault(5), {
    description: "Retries of a request after a network error, a server error or throttling",
    value: "N",
  }),
  outagePatience: option(duration().prefault("10m"), {
    description:
      "How long to wait while every request fails, 15s at most before the first answer, 2s for a host name that cannot be resolved. The service is probed meanwhile; then the run stops and can be resumed",
    value: "TIME",
  }),
  partialRetries: option(wholeNumber(0, 100).prefault(2), {
    description: "How often to re-ask for a partial answer",
    value: "N",
  }),
};

export const lookupOptions = z.strictObject({
  lookups: option(lookupsList.prefault("query,quick-check"), {
    description: `Endpoints to query for each item: ${lookupEndpoints.join(",")}, ${lookupEndpoints.join(", ")}, or triage. triage does the quick check first and the query only if it shows something`,
    value: "LIST",
  }),
  bogons: option(z.enum(["ask", "local"]).optional(), {
    description:
      "IP addresses in reserved ranges: local answers them without a request and leaves them out of tag lists, ask sends them [default local, ask with --local]",
    value: "HOW",
  }),
  exclude: option(paths().optional(), {
    description:
      "List of what must not be sent: addresses, networks (192.0.2.0/24), domains with all below them, e-mail domains (@corp.example) and single items, one per line, or a warning list of MISP. A URL is judged by its host. Rows with such items are unsupported, tag lists omit them, a webhook that names one is refused. Repeat it for several lists",
    value: "FILE",
    repeats: true,
  }),
  urlQuery: option(z.enum(["keep", "strip"]).default("keep"), {
    description: "strip sends URLs without their query and fragment",
    value: "HOW",
  }),
  cache: option(z.string().min(1).optional(), {
    description:
      "Folder of cached answers. Fresh ones are used instead of a request; several runs can share a folder",
    value: "DIR",
  }),
  cacheTtl: option(duration().prefault("24h"), {
    description: "How long cached answers stay fresh. Partial answers expire after TTL/24",
    value: "TIME",
  }),
  concurrency: option(wholeNumber(1, 4096).optional(), {
    description:
      "Maximum number of open requests [default 32; with --workers 1024, which wait in the queue]",
    value: "N",
  }),
  rate: option(rates().optional(), {
    description:
      "Rate limit for all endpoints together: N/s, N/min, N/h or N/d [default 100/s, none with --local]. Repeat it to combine limits. Hourly and daily limits are quotas, in addition to the default: counted per service address in your state folder, across runs",
    value: "N/s",
    repeats: true,
  }),
  workers: option(redisAddress(startWorkers).optional(), {
    description:
      "Let workers make the requests: the Redis that repute worker names, redis://HOST[:PORT]/DB or rediss://. They hold the key and the rate",
    value: "URL",
  }),
  ...retryOptions,
});

export type LookupSettings = z.output<typeof lookupOptions>;

/** The rate without another one, also of workers. */
export const defaultRate: Rate = { count: 100, perMs: 1000 };

/**
 * The rates in force: as given, and 100/s unless they have one below an hour, the service is embedded, or
 * workers have the rate.
 *
 * @throws UsageError `workers_rate` if it is given here, `workers_with_local`
 */
export function paceOf(
  { rate: rates = [], workers }: Partial<Pick<LookupSettings, "rate" | "workers">>,
  embedded: boolean,
): readonly Rate[] {
  const isOfWorkers = workers !== undefined;
  if (isOfWorkers && embedded) {
    throw new UsageError("workers_with_local", "--workers needs a service that they can reach", {
      hint: "omit it with --local, whose service ends with this process",
    });
  }
  if (isOfWorkers && !rates.every(isQuota)) {
    throw new UsageError("workers_rate", "with --workers, the rate is that of the workers", {
      hint: "omit --rate here, and give it to them: repute worker redis://HOST/DB --rate 100/s; quotas (N/d, N/h) belong here",
    });
  }
  return embedded || isOfWorkers || !rates.every(isQuota) ? rates : [defaultRate, ...rates];
}

/** How many requests may be open: by default few to the service itself, many in the queue of workers. */
export function openRequests({
  concurrency,
  workers,
}: Partial<Pick<LookupSettings, "concurrency" | "workers">>): number {
  return concurrency ?? (workers === undefined ? 32 : 1024);
}

/** `100/s`, `600/m`, `5000/h`, `10000/d`, several joined by commas, or the same as objects. */
export type RateOption = string | Rate | readonly (string | Rate)[];

function rates(): z.ZodType<readonly Rate[], RateOption> {
  return z
    .custom<RateOption>()
    .transform((value) => (typeof value === "string" ? value.split(",") : [value].flat()))
    .pipe(z.array(rate()).min(1));
}

function paths(): z.ZodType<readonly string[], string | readonly string[]> {
  return z
    .string()
    .transform((text) => text.split(",").map((path) => path.trim()))
    .or(z.array(z.string()))
    .pipe(z.array(z.string().min(1)).min(1));
}
