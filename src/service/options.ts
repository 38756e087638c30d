import { z } from "zod";
import { duration, option, rate, share, wholeNumber } from "../core/options.js";

/** Delay of an answer, uniformly distributed between both ends. */
export interface Latency {
  readonly minMs: number;
  readonly maxMs: number;
}

/** Names of the mail blocklist member: in the specification, and in the deployed service. */
const blocklistFields = ["serviceMailBlocklist", "abusixMailBlocklist"] as const;

export type BlocklistField = (typeof blocklistFields)[number];

const seedLimit = 2 ** 32 - 1;

/** How the embedded service listens, what it answers from and which faults it makes. */
export const serviceOptions = z.strictObject({
  host: option(z.string().min(1).prefault("127.0.0.1"), {
    common: true,
    description:
      "Address to listen on. Requests whose Host header names neither it nor localhost get 421; on 0.0.0.0 or :: every IP address and this machine's name are accepted",
    value: "ADDRESS",
  }),
  port: option(wholeNumber(0, 65_535).prefault(0), {
    common: true,
    description: "Port to listen on; 0 takes a free one",
    value: "N",
  }),
  dataset: option(z.string().min(1).optional(), {
    common: true,
    description: "Folder of the dataset; by default the one that comes with repute",
    value: "DIR",
  }),
  synthetic: option(wholeNumber(0, seedLimit).optional(), {
    description:
      "Answer for every item that the dataset does not list, with invented data that depends on the seed and the item alone",
    value: "SEED",
  }),
  apiKey: option(apiKey().optional(), {
    common: true,
    description:
      "Key that lookups and tags want as x-api-key; requests without it get 403, as from the deployed service. A key for rehearsals: other users can read a command line",
    value: "KEY",
    secret: true,
  }),
  blocklistField: option(z.enum(blocklistFields).default("serviceMailBlocklist"), {
    description:
      "What the mail blocklist member is called; the deployed service calls it abusixMailBlocklist",
    value: "NAME",
  }),
  latency: option(latency().prefault(0), {
    common: true,
    description: "Time before each answer, such as 50ms, or a range such as 20ms-80ms",
    value: "TIME",
  }),
  partialRate: shareOption("queries answered with 503 and a partial result, 0 to 1"),
  unavailableRate: shareOption("requests answered with 503 and no envelope, 0 to 1"),
  resetRate: shareOption("requests whose connection is reset, 0 to 1"),
  malformedRate: shareOption(
    "requests answered with 200 and a body that is no answer, 0 to 1; below 1 never twice for a request that is tried again",
  ),
  rateLimit: option(rate().optional(), {
    description: "Most requests in a length of time (s, m, h, d); those beyond get 429",
    value: "N/s",
  }),
  seed: option(wholeNumber(0, seedLimit).prefault(1), {
    common: true,
    description: "Same seed, same faults, in whatever order requests arrive",
    value: "N",
  }),
});

export type ServiceSettings = z.output<typeof serviceOptions>;

function shareOption(of: string) {
  return option(share().prefault(0), { description: `Share of ${of}`, value: "SHARE" });
}

/** A key that fits in a header field (RFC 9110 section 5.5). */
function apiKey(): z.ZodType<string> {
  return z
    .string()
    .regex(/^[\u0021-\u007E]+$/, "must be one line of ASCII without spaces or control characters");
}

function latency(): z.ZodType<Latency> {
  const bounds = z.strictObject({ minMs: z.number().min(0), maxMs: z.number().min(0) });
  return z.union([bounds, z.number(), z.string()]).transform((value, context) => {
    if (typeof value === "object") return value;
    const ends = typeof value === "number" ? [value] : value.split("-");
    const parsed = ends.map((end) => duration().safeParse(end));
    const times = parsed.map((end) => (end.success ? end.data : Number.NaN));
    const [minMs = Number.NaN, maxMs = minMs] = times;
    if (times.length > 2 || !(minMs <= maxMs)) {
      const message = "must be a time such as 50ms, or a range such as 20ms-80ms";
      context.addIssue({ code: "custom", message });
      return z.NEVER;
    }
    return { minMs, maxMs };
  });
}
