import { z } from "zod";
import { duration, option } from "../core/options.js";
import { UsageError } from "../core/errors.js";

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
    common: true,
    description: "Base address of the threat intelligence interface, up to and with /beta",
    value: "URL",
  }),
  timeout: option(timeLimit().prefault("30s"), {
    description: "Longest time that one request may take from connecting to the last byte",
    value: "TIME",
  }),
  apiKeyFile: option(z.string().min(1).optional(), {
    common: true,
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

/**
 * How to get past an `Authentication Failed`, as the specification says it: generate a key, send it
 * as Bearer.
 */
export const authenticationSteps =
  "Step 1: generate an API key in the Settings tab of the case management product." +
  ' Step 2: use Bearer authentication: send it in the header "Authorization: Bearer <API_KEY>".';

/**
 * Whether a body says `Authentication Failed`: the specification names the failure so and gives no
 * status for it. Finds the phrase in plain text, JSON and HTML, in any case, also as an error code
 * (`authentication_failed`) unless JSON denies it (`"authentication_failed": false`).
 *
 * @param body its beginning counts; a failure is not told in the middle of megabytes
 */
export function saysAuthenticationFailed(body: string | Buffer): boolean {
  const text = (typeof body === "string" ? body : body.toString("utf8", 0, longestBody))
    .slice(0, longestBody)
    .replaceAll(/\\u00([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    .replaceAll(/\\[nrt]/g, " ")
    .replaceAll(/<[^<>]*>/g, " ")
    .replaceAll(/&(?:nbsp|#160|#xa0|#32|#x20);/gi, " ");
  return phrase.test(text);
}

const longestBody = 64 * 1024;

const phrase = /authentication[\s_-]*failed(?!["']?\s*:\s*(?:false|null|0\b))/i;

/**
 * The address of a service, which paths are appended to.
 *
 * @throws UsageError `invalid_address` when it is no http(s) address, or has a query or a fragment
 */
export function parseBase(baseUrl: string): URL {
  const base = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (base === null || (base.protocol !== "http:" && base.protocol !== "https:")) {
    throw new UsageError("invalid_address", `${JSON.stringify(baseUrl)} is no http(s) address`);
  }
  const part = partBehindPath(baseUrl);
  if (part !== null) {
    const address = base.origin + base.pathname;
    throw new UsageError("invalid_address", `the address ${address} must not have a ${part}`, {
      hint: "paths are appended to it: end it with its own path, as in https://intel.example/beta",
    });
  }
  return base;
}

/** What an address has behind its path, by name; null when it ends there. Never shown: it may be secret. */
function partBehindPath(address: string): string | null {
  const mark = /[?#]/.exec(address)?.[0];
  if (mark === undefined) return null;
  return mark === "?" ? "query (?…)" : "fragment (#…)";
}
