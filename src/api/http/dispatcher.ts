import type { Socket } from "node:net";
import { buildConnector, type Dispatcher, EnvHttpProxyAgent, Pool } from "undici";
import { UsageError } from "../../core/errors.js";

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
 * Connections to one service: a pool to its origin, or through a proxy where a variable names one.
 *
 * @throws UsageError `invalid_proxy` for a variable that does not name an HTTP proxy
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
          // undici gives no socket at all with an error, whatever its types say.
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
    // Plain HTTP is forwarded, not tunnelled: proxies commonly refuse CONNECT to other ports than 443.
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
 * Lets a server send `100 Continue` before an answer although nobody asked for it, as RFC 9110 section
 * 15.2 has clients do. undici takes it for a fault, and passes over any other interim answer: the
 * status becomes 102, which means as little.
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

/** The proxy through which a service is reached. */
interface Proxy {
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
function throughProxy(dispatcher: Dispatcher, { name }: Proxy): Dispatcher {
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
