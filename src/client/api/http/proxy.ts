import type { Dispatcher } from "undici";
import { UsageError } from "../../../core/errors.js";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Picks the proxy for a service from `HTTPS_PROXY`, `HTTP_PROXY` (for https too, if that is
 * the only one) and `NO_PROXY`. Prefers lower-case names, like curl. Never proxies loopback addresses.
 *
 * @returns its `address`, with user name and password; and a `name` for messages: the address without them,
 *   and the variable that holds it
 * @throws UsageError `invalid_proxy` if the variable doesn't hold the address of an HTTP proxy
 */
export function proxyFor(base: URL, env: Environment) {
  const named =
    (base.protocol === "https:" ? variable(env, "https_proxy") : null) ??
    variable(env, "http_proxy") ??
    null;
  if (named === null || isLoopback(base.hostname) || isExempt(base, env)) return null;
  const { name, value } = named;
  const address = /^[^\s/:@]+:\d+\/?$/.test(value) ? `http://${value}` : value;
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new UsageError("invalid_proxy", `${name} is not the address of an HTTP proxy`, {
      hint: "write it as http://HOST:PORT; SOCKS proxies are not supported",
    });
  }
  return { address, name: `${url.protocol}//${url.host} (from ${name})` };
}

/** Records which proxy a dispatcher uses. */
export function throughProxy(dispatcher: Dispatcher, name: string): Dispatcher {
  return Object.assign(dispatcher, { [proxyName]: name });
}

/** Name of a dispatcher's proxy; null without one. */
export function proxyOf(dispatcher: Dispatcher): string | null {
  return (dispatcher as { readonly [proxyName]?: string })[proxyName] ?? null;
}

const proxyName = Symbol("proxy");

function variable(env: Environment, lower: string): { name: string; value: string } | null {
  for (const name of [lower, lower.toUpperCase()]) {
    const value = env[name];
    if (value !== undefined) return value === "" ? null : { name, value };
  }
  return null;
}

/** `NO_PROXY` lists hosts, and domains with their subdomains, optionally with a port; `*` means all. */
function isExempt(base: URL, env: Environment): boolean {
  const host = base.hostname.toLowerCase();
  const port = base.port || (base.protocol === "https:" ? "443" : "80");
  const entries = variable(env, "no_proxy")?.value.split(/[,\s]+/) ?? [];
  return entries.some((entry) => {
    const [, name = "", ownPort = port] = /^(.+?)(?::(\d+))?$/.exec(entry) ?? [];
    const bare = name.replace(/^\*?\./, "").toLowerCase();
    if (bare === "*") return true;
    return bare !== "" && ownPort === port && (host === bare || host.endsWith(`.${bare}`));
  });
}

/** RFC 6761 section 6.3 (localhost), RFC 1122 section 3.2.1.3 (127/8), RFC 4291 section 2.5.3 (::1). */
export function isLoopback(hostname: string): boolean {
  return (
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "[::1]" ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname)
  );
}
