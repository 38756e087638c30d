import type { LookupFunction } from "node:net";
import { type Dispatcher, EnvHttpProxyAgent, Pool } from "undici";
import { proxyFor, throughProxy } from "./proxy.js";
import type { LookupAddress, LookupAllOptions } from "node:dns";
import { lookup } from "node:dns/promises";

export interface DispatcherOptions {
  /** Maximum number of open connections; set it to the run's concurrency. */
  readonly connections: number;
  /** Timeout for connecting, TLS included, in milliseconds. @default 10000 */
  readonly connectTimeoutMs?: number;
  /** Source of `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` (also in lower case). @default process.env */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Creates the connections to a service: a pool to its origin, or through the proxy that the
 * environment names.
 *
 * @throws UsageError `invalid_proxy` if that is not an HTTP proxy
 */
export function createDispatcher(baseUrl: string, options: DispatcherOptions): Dispatcher {
  const base = new URL(baseUrl);
  const lookup = sharedLookup();
  const connect = { timeout: options.connectTimeoutMs ?? 10_000, lookup };
  const common = {
    connections: options.connections,
    // The timeout for the whole request covers both.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const proxy = proxyFor(base, options.env ?? process.env);
  if (proxy === null) return new Pool(base.origin, { ...common, connect });
  const agent = new EnvHttpProxyAgent({
    ...common,
    connect,
    httpProxy: proxy.address,
    httpsProxy: proxy.address,
    noProxy: "",
    // Plain HTTP is forwarded, not tunnelled: proxies commonly refuse CONNECT to ports other than 443.
    proxyTunnel: false,
    proxyTls: { timeout: connect.timeout, lookup },
    requestTls: connect,
  });
  return throughProxy(agent, proxy.name);
}

/** How long later connections reuse a failed resolution, in milliseconds. */
const failureMs = 500;

type Resolve = (host: string, options: LookupAllOptions) => Promise<LookupAddress[]>;

/**
 * Resolves the host name of a service or proxy once for all connections that open together. Node.js
 * resolves at most four names at a time, and waits for all of them when it exits; a resolver may be slow
 * to answer many questions for a name that does not exist.
 *
 * @param resolve `lookup` of `node:dns/promises`, or its equivalent
 */
export function sharedLookup(resolve: Resolve = lookup): LookupFunction {
  const shared = new Map<string, Promise<LookupAddress[]>>();
  return (host, options, done) => {
    let addresses = shared.get(host);
    if (addresses === undefined) {
      addresses = resolve(host, { ...options, all: true });
      shared.set(host, addresses);
      const forget = (): unknown => shared.delete(host);
      addresses.then(forget, () => setTimeout(forget, failureMs).unref());
    }
    addresses.then(
      (all) => {
        if (options.all === true) done(null, all);
        else done(null, all[0]!.address, all[0]!.family);
      },
      (error: NodeJS.ErrnoException) => done(error, ""),
    );
  };
}
