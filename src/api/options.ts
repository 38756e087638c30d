import { z } from "zod";
import { duration, option } from "../core/options.js";
import { partBehindPath } from "./base-address.js";

/** Paths are appended to it, so nothing may come after its own. */
const address = z
  .url({ protocol: /^https?$/, error: "must be an http:// or https:// address" })
  .superRefine((text, context) => {
    const part = partBehindPath(text);
    if (part === null) return;
    context.addIssue({ code: "custom", message: `must not have a ${part}; end it with the path` });
  });

/** Where the service is and how long an answer may take. */
export const apiOptions = z.strictObject({
  intelUrl: option(address.optional(), {
    description: "Base address of the threat intelligence interface, up to and with /beta",
    value: "URL",
  }),
  timeout: option(timeLimit().prefault("30s"), {
    description: "Longest time that one request may take from connecting to the last byte",
    value: "TIME",
  }),
  apiKeyFile: option(z.string().min(1).optional(), {
    description:
      "File that holds the key sent as x-api-key; or the variable REPUTE_API_KEY. Nothing is sent without one",
    value: "PATH",
  }),
});

/** Where the operations interface is, and its credential (interface: Authentication, 2). */
export const opsOptions = z.strictObject({
  opsUrl: option(address.optional(), {
    description: "Base address of the operations interface, without /beta",
    value: "URL",
  }),
  accessTokenFile: option(z.string().min(1).optional(), {
    description:
      "File that holds the token sent as Bearer to that address alone; or the variable REPUTE_ACCESS_TOKEN",
    value: "PATH",
  }),
});

/** Where the case management instance is, and its credential (interface: Authentication, 3). */
export const caseOptions = z.strictObject({
  caseUrl: option(address.optional(), {
    description: "Address of the case management instance",
    value: "URL",
  }),
  caseApiKeyFile: option(z.string().min(1).optional(), {
    description:
      "File that holds the API key sent as Bearer to that address alone; or the variable REPUTE_CASE_API_KEY",
    value: "PATH",
  }),
});

/** Within no time at all nothing is answered, and nobody waits for more than a day. */
function timeLimit(): z.ZodType<number> {
  return duration().refine((ms) => ms >= 1 && ms <= 86_400_000, "must be from 1ms to 24h");
}
