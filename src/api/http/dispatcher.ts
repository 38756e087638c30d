import type { Socket } from "node:net";
import { buildConnector, type Dispatcher, EnvHttpProxyAgent, Pool } from "undici";
import { UsageError } from "../../core/errors.js";

export interface DispatcherOptions {
  /** Maximum number of open connections; set it to the run's concurrency. */
  readonly connections: number;
  /** Timeout for connecting, TLS included, in milliseconds. @default 10000 */
  readonly connectTimeoutMs?: number;
  /**
   * Timeout from the request to the answer's headers, in milliseconds.
   *
   * @default 0: only the client's `timeoutMs` applies, which covers the whole request
   */
  readonly headersTimeoutMs?: number;
  /** Maximum silence within a body, in milliseconds. @default 0: only `timeoutMs` applies */
  readonly bodyTimeoutMs?: number;
  /** TLS options, by default Node.js's own (it honours `NODE_EXTRA_CA_CERTS`). */
  readonly tls?: { readonly ca?: string; readonly rejectUnauthorized?: boolean };
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
  const connect = { timeout: options.connectTimeoutMs ?? 10_000, ...options.tls };
  const common = {
    connections: options.connections,
    headersTimeout: options.headersTimeoutMs ?? 0,
    bodyTimeout: options.bodyTimeoutMs ?? 0,
  };
  const proxy = proxyFor(base, options.env ?? process.env);
  if (proxy === null) {
    const connector = buildConnector(connect);
    return new Pool(base.origin, {
      ...common,
      connect: (target, done) =>
        connector(target, (error, socket) => {
          // Contrary to its types, undici passes no socket with an error.
          if (error) done(error, null);
          else done(null, acceptContinue(socket));
        }),
    });
  }
  const agent = new EnvHttpProxyAgent({
    ...common,
    connect,
    httpProxy: proxy.address,
    httpsProxy: proxy.address,
    noProxy: "",
    // Plain HTTP is forwarded, not tunnelled: proxies commonly refuse CONNECT to ports other than 443.
    proxyTunnel: false,
    proxyTls: { timeout: connect.timeout },
    requestTls: connect,
  });
  return throughProxy(agent, proxy);
}

/** `HTTP/1.1 100 ` */
const statusLine = /^HTTP\/1\.[01] 100 /;
const lastDigit = 11;

/**
 * Accepts an unsolicited `100 Continue` before an answer, as RFC 9110 section 15.2 requires of clients.
 * undici rejects it but ignores all other interim answers, so the status is rewritten to 102, which
 * means just as little.
 */
function acceptContinue(socket: Socket): Socket {
  const read = socket.read.bind(socket);
  socket.read = (size?: number): unknown => {
    const chunk: unknown = read(size);
    if (Buffer.isBuffer(chunk) && chunk[lastDigit] === 0x30 && chunk[0] === 0x48) {
      if (statusLine.test(chunk.toString("latin1", 0, lastDigit + 2))) chunk[lastDigit] = 0x32;
    }
    return chunk;
  };
  return socket;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The proxy for a service. */
interface Proxy {
  /** Including user name and password, if any. */
  readonly address: string;
  /** For messages: the address without credentials, and the variable that holds it. */
  readonly name: string;
}

/**
 * Picks the proxy for a service from `HTTPS_PROXY`, `HTTP_PROXY` (which also serves https without the
 * former) and `NO_PROXY`; like curl, prefers the lower-case names. Never proxies loopback addresses.
 *
 * @throws UsageError `invalid_proxy` if that is not the address of an HTTP proxy
 */
function proxyFor(base: URL, env: Environment): Proxy | null {
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
          `${name} names a SOCKS proxy; only HTTP proxies are supported`,
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

/** Records which proxy a dispatcher uses. */
function throughProxy(dispatcher: Dispatcher, { name }: Proxy): Dispatcher {
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

/** `NO_PROXY` lists hosts and domains including all below them, optionally with a port; `*` means all. */
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
