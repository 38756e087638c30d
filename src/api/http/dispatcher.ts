import type { Socket } from "node:net";
import { buildConnector, type Dispatcher, EnvHttpProxyAgent, Pool } from "undici";
import { proxyFor, throughProxy } from "./proxy.js";

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
