import { z } from "zod";
import { duration, option, rate, share, wholeNumber } from "../core/options.js";

/** Names of the mail blocklist member: in the specification, and in the deployed service. */
const blocklistFields = ["serviceMailBlocklist", "abusixMailBlocklist"] as const;

const oneLine = "must be one line of ASCII without spaces or control characters";

const seedLimit = 2 ** 32 - 1;

/** How the embedded service listens, what it answers from and which faults it makes. */
export const serviceOptions = z.strictObject({
  host: option(z.string().min(1).prefault("127.0.0.1"), {
    description:
      "Address to listen on. Requests get 421 if their Host header has a name other than this address or localhost; with 0.0.0.0 or ::, this machine's name is accepted",
    value: "ADDRESS",
  }),
  port: option(wholeNumber(0, 65_535).prefault(0), {
    description: "Port to listen on; 0 picks a free one",
    value: "N",
  }),
  dataset: option(z.string().min(1).optional(), {
    description: "Folder with the dataset [default: the sample dataset]",
    value: "DIR",
  }),
  synthetic: option(wholeNumber(0, seedLimit).optional(), {
    description:
      "Invent an answer for every item that is not in the dataset or on its tag lists. It depends only on the seed and the item",
    value: "SEED",
  }),
  // It must fit in a header field (RFC 9110 section 5.5).
  apiKey: option(
    z
      .string()
      .regex(/^[!-~]+$/, oneLine)
      .optional(),
    {
      description:
        "API key to require as x-api-key for lookups and tags. Other requests get 403. Use a test key: other users can read a command line",
      value: "KEY",
      secret: true,
    },
  ),
  blocklistField: option(z.enum(blocklistFields).default("serviceMailBlocklist"), {
    description: "Name of the mail blocklist member. The deployed service uses abusixMailBlocklist",
    value: "NAME",
  }),
  latency: option(duration().prefault("0ms"), {
    description: "Delay before each answer, such as 50ms",
    value: "TIME",
  }),
  partialRate: shareOption("queries answered with 503 and a partial result, 0 to 1"),
  unavailableRate: shareOption("requests answered with a plain 503, 0 to 1"),
  resetRate: shareOption("requests whose connection is reset, 0 to 1"),
  malformedRate: shareOption(
    "requests answered with 200 and a malformed body, 0 to 1. Below 1, a retry of the same request succeeds",
  ),
  rateLimit: option(rate().optional(), {
    description: "Rate limit: N/s, N/min, N/h or N/d. Requests beyond it get 429",
    value: "N/s",
  }),
  seed: option(wholeNumber(0, seedLimit).prefault(1), {
    description:
      "Seed of the injected faults. The same seed gives the same faults, whatever the order of requests",
    value: "N",
  }),
});

export type ServiceSettings = z.output<typeof serviceOptions>;

function shareOption(of: string) {
  return option(share().prefault(0), { description: `Share of ${of}`, value: "SHARE" });
}
