import type { Dispatcher } from "undici";
import { UsageError } from "../../core/errors.js";

type Environment = Readonly<Record<string, string | undefined>>;

/** The proxy through which a service is reached. */
export interface Proxy {
  /** With user name and password, where it has any. */
  readonly address: string;
  /** For messages: its address without those, and the variable that holds it. */
  readonly name: string;
}

/**
 * Picks the proxy for a service from `HTTP_PROXY`, `HTTPS_PROXY` (without which `HTTP_PROXY` serves
 * both) and `NO_PROXY`, lower case first as curl does. A loopback address is never reached through one.
 *
 * @throws UsageError `invalid_proxy` when that is no address of an HTTP proxy
 */
export function proxyFor(base: URL, env: Environment): Proxy | null {
  const named =
    (base.protocol === "https:" ? variable(env, "https_proxy") : null) ??
    variable(env, "http_proxy") ??
    null;
  if (named === null || isLoopback(base.hostname) || isExempt(base, env)) return null;
  const { name, value } = named;
  const address = /^[^\s/:@]+:\d+\/?$/.test(value) ? `http://${value}` : value;
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw url?.protocol.startsWith("socks") === true
      ? new UsageError(
          "invalid_proxy",
          `${name} names a SOCKS proxy; only HTTP proxies can be used`,
          {
            hint: `write an HTTP proxy as http://HOST:PORT, or unset ${name}`,
          },
        )
      : new UsageError("invalid_proxy", `${name} is not the address of an HTTP proxy`, {
          hint: "write it as http://HOST:PORT",
        });
  }
  return { address, name: `${url.protocol}//${url.host} (from ${name})` };
}

/** Notes the proxy behind a dispatcher. */
export function throughProxy(dispatcher: Dispatcher, { name }: Proxy): Dispatcher {
  return Object.assign(dispatcher, { [proxyName]: name });
}

/** Name of the proxy behind a dispatcher; null when there is none. */
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

/** Hosts and domains with everything below them, a port after a colon; `*` for all. */
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
