import { z } from "zod";
import { duration, option } from "../core/options.js";

const address = z.url({
  protocol: /^https?$/,
  error: "must be an http:// or https:// address",
});

/** Where the service is and how long an answer may take. */
export const apiOptions = z.strictObject({
  intelUrl: option(address.optional(), {
    description: "Base address of the threat intelligence interface, up to and with /beta",
    value: "URL",
  }),
  timeout: option(duration().prefault("30s"), {
    description: "Longest time that one request may take from connecting to the last byte",
    value: "TIME",
  }),
  apiKeyFile: option(z.string().min(1).optional(), {
    description:
      "File that holds the key sent as x-api-key; or the variable REPUTE_API_KEY. Nothing is sent without one",
    value: "PATH",
  }),
});

export type ApiSettings = z.output<typeof apiOptions>;
