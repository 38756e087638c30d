import { z } from "zod";
import { type Duration, duration, option } from "../../core/options.js";
import { UsageError } from "../../core/errors.js";

/**
 * A service's base address. Paths are appended to it, so it cannot have a query or fragment. Errors
 * and manifests show it, so it cannot have a password.
 */
const address = z
  .url({ protocol: /^https?$/, error: "must be an http:// or https:// address" })
  .superRefine((text, context) => {
    const refuse = (message: string, params = {}): void =>
      context.addIssue({ code: "custom", message: `must not have a ${message}`, params });
    const part = partAfterPath(text);
    if (part !== null) refuse(`${part}; end it with the path`);
    const { username, password } = URL.canParse(text) ? new URL(text) : {};
    if (username || password) {
      const hint = "keep keys and tokens out of addresses: give them in their own setting";
      refuse("user name or password", { hint });
    }
  });

const timeLimit: z.ZodType<number, Duration> = duration().refine(
  (ms) => ms >= 1 && ms <= 86_400_000,
  "must be from 1ms to 24h",
);

export const apiOptions = z.strictObject({
  intelUrl: option(address.optional(), {
    description: "Base URL of the threat intelligence API, including /beta",
    value: "URL",
  }),
  timeout: option(timeLimit.prefault("30s"), {
    description: "Timeout for one request, connect to last byte",
    value: "TIME",
  }),
  apiKeyFile: option(z.string().min(1).optional(), {
    description:
      "File with the API key, sent as x-api-key. Alternative: REPUTE_API_KEY. Without a key no such header is sent",
    value: "PATH",
  }),
});

export const opsOptions = z.strictObject({
  opsUrl: option(address.optional(), {
    description: "Base URL of the operations interface, without /beta",
    value: "URL",
  }),
  accessTokenFile: option(z.string().min(1).optional(), {
    description:
      "File with the access token, sent as Bearer to that URL only. Alternative: REPUTE_ACCESS_TOKEN",
    value: "PATH",
  }),
});

export const caseOptions = z.strictObject({
  caseUrl: option(address.optional(), {
    description: "URL of the case management instance",
    value: "URL",
  }),
  caseApiKeyFile: option(z.string().min(1).optional(), {
    description:
      "File with the API key, sent as Bearer to that URL only. Alternative: REPUTE_CASE_API_KEY",
    value: "PATH",
  }),
});

/**
 * Parses a service's base address.
 *
 * @throws UsageError `invalid_address` unless it is an http(s) address without query and fragment
 */
export function parseBase(baseUrl: string): URL {
  const base = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (base === null || (base.protocol !== "http:" && base.protocol !== "https:")) {
    throw new UsageError("invalid_address", `${JSON.stringify(baseUrl)} is not an http(s) address`);
  }
  const part = partAfterPath(baseUrl);
  if (part !== null) {
    const address = base.origin + base.pathname;
    throw new UsageError("invalid_address", `the address ${address} must not have a ${part}`, {
      hint: "end it with the path, as in https://intel.example/beta; paths are appended to it",
    });
  }
  return base;
}

/** Names what follows an address's path, or null. Omits the value, which may be secret. */
function partAfterPath(address: string): string | null {
  const mark = /[?#]/.exec(address)?.[0];
  if (mark === undefined) return null;
  return mark === "?" ? "query (?…)" : "fragment (#…)";
}

/**
 * The address of a service without user name, password and query, which may be secrets. Different
 * spellings of an address give the same text. Anything that isn't a URL is returned unchanged.
 */
export function serviceAddress(address: string): string {
  if (!URL.canParse(address)) return address;
  const { origin, pathname } = new URL(address);
  return origin + pathname.replace(/\/+$/, "");
}
