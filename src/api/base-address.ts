import { UsageError } from "../core/errors.js";

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
export function partBehindPath(address: string): string | null {
  const mark = /[?#]/.exec(address)?.[0];
  if (mark === undefined) return null;
  return mark === "?" ? "query (?…)" : "fragment (#…)";
}
