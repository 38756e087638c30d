import { createRequire } from "node:module";
import type { Dispatcher, EnvHttpProxyAgent, Pool as PoolClass } from "undici";
import { UsageError } from "../core/errors.js";

const load = createRequire(import.meta.url);

// The package's index loads fetch, WebSocket, caches and Node's own copy of all that as well: 45 ms of
// every command that asks a service.
const Pool = load("undici/lib/dispatcher/pool.js") as typeof PoolClass;

export interface DispatcherOptions {
  /** Most connections open to the origin at once; make it the concurrency of the run. */
  readonly connections: number;
  /** Longest time to set a connection up, TLS included. Milliseconds. @default 10000 */
  readonly connectTimeoutMs?: number;
  /**
   * Longest time from a request to the headers of its answer. Milliseconds.
   *
   * @default 0: no bound but the client's `timeoutMs`, which covers the whole of a request
   */
  readonly headersTimeoutMs?: number;
  /** Longest silence while a body arrives. Milliseconds. @default 0, as for the headers */
  readonly bodyTimeoutMs?: number;
  /** How TLS connections are made; by default as Node.js does (`NODE_EXTRA_CA_CERTS` is honoured). */
  readonly tls?: { readonly ca?: string; readonly rejectUnauthorized?: boolean };
  /** Where `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` (also in lower case) are read. @default process.env */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Connections to one service: a pool to its origin, or through a proxy where a proxy variable is
 * set. A loopback address is never reached through a proxy.
 *
 * @throws UsageError for a proxy variable that is no address
 */
export function createDispatcher(baseUrl: string, options: DispatcherOptions): Dispatcher {
  const base = new URL(baseUrl);
  const connect = { timeout: options.connectTimeoutMs ?? 10_000, ...options.tls };
  const common = {
    connections: options.connections,
    headersTimeout: options.headersTimeoutMs ?? 0,
    bodyTimeout: options.bodyTimeoutMs ?? 0,
  };
  const env = options.env ?? process.env;
  const httpProxy = variable(env, "http_proxy");
  const httpsProxy = variable(env, "https_proxy");
  if (isLoopback(base.hostname) || !(httpProxy || httpsProxy)) {
    return new Pool(base.origin, { ...common, connect });
  }
  for (const name of ["http_proxy", "https_proxy"]) checkProxy(name, variable(env, name));
  const undici = load("undici") as { EnvHttpProxyAgent: typeof EnvHttpProxyAgent };
  return new undici.EnvHttpProxyAgent({
    ...common,
    connect,
    httpProxy,
    httpsProxy,
    noProxy: variable(env, "no_proxy"),
    // Plain HTTP is forwarded, not tunnelled: proxies commonly refuse CONNECT to other ports than 443.
    proxyTunnel: false,
    proxyTls: { timeout: connect.timeout },
    requestTls: connect,
  });
}

/** @throws UsageError; undici would only say that a URL is invalid */
function checkProxy(name: string, address: string): void {
  if (address === "" || URL.canParse(address)) return;
  throw new UsageError("invalid_proxy", `${name.toUpperCase()} is no address of a proxy`, {
    hint: "write it as http://HOST:PORT",
  });
}

/** Lower case first, as curl and undici do. */
function variable(env: Readonly<Record<string, string | undefined>>, name: string): string {
  return env[name] ?? env[name.toUpperCase()] ?? "";
}

/** RFC 6761 section 6.3 (localhost), RFC 1122 section 3.2.1.3 (127/8), RFC 4291 section 2.5.3 (::1). */
function isLoopback(hostname: string): boolean {
  return (
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "[::1]" ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname)
  );
}
