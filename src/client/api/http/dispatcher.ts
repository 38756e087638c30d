import type { LookupFunction, Socket } from "node:net";
import { buildConnector, type Dispatcher, EnvHttpProxyAgent, Pool } from "undici";
import { proxyFor, throughProxy } from "./proxy.js";
import type { LookupAddress, LookupAllOptions } from "node:dns";
import { lookup } from "node:dns/promises";

export interface DispatcherOptions {
  /** Maximum number of open connections; set it to the run's concurrency. */
  readonly connections: number;
  /** Timeout for connecting, TLS included, in milliseconds. @default 10000 */
  readonly connectTimeoutMs?: number;
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
  const lookup = sharedLookup();
  const connect = { timeout: options.connectTimeoutMs ?? 10_000, lookup, ...options.tls };
  const common = {
    connections: options.connections,
    // The timeout for the whole request covers both.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const proxy = proxyFor(base, options.env ?? process.env);
  if (proxy === null) {
    return new Pool(base.origin, { ...common, connect: ignoringContinue(buildConnector(connect)) });
  }
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
    factory: (origin, own: Pool.Options) => {
      const { connect } = own;
      // undici's agents pass `connect` to their pools as a function.
      const open = typeof connect === "function" ? connect : buildConnector({ ...connect });
      return new Pool(origin, { ...own, connect: ignoringContinue(open) });
    },
  });
  return throughProxy(agent, proxy);
}

/** How long a failed resolution counts for later connections, in milliseconds. */
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

/**
 * Makes undici ignore an unsolicited `100 Continue`, as RFC 9110 section 15.2 allows. It would close the
 * connection, but ignores other interim answers; so this changes the status to `102`.
 */
function ignoringContinue(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error === null) renameContinue(socket);
      callback(...([error, socket] as Parameters<typeof callback>));
    });
}

/** Requests are not pipelined, so a write always precedes its answer. */
function renameContinue(socket: Socket): void {
  const [write, read] = [socket.write.bind(socket), socket.read.bind(socket)];
  let heads: InterimHeads | null = null;
  socket.write = (...parameters: unknown[]): boolean => {
    heads ??= new InterimHeads();
    return write(...(parameters as Parameters<typeof write>));
  };
  socket.read = (size) => {
    const chunk: unknown = read(size);
    if (heads !== null && Buffer.isBuffer(chunk) && !heads.rename(chunk)) heads = null;
    return chunk;
  };
}

const version = "HTTP/1.";
const blankLine = "\r\n\r\n";
/** Offsets in `HTTP/1.1 100`. */
const [hundreds, tens, ones] = [9, 10, 11];

/** Follows the interim answers (1xx) before an answer, across chunks. */
class InterimHeads {
  /** Characters read of a status line; null after it. */
  #at: number | null = 0;
  #isContinue = false;
  /** Characters read of the blank line that ends a head. */
  #blank = 0;

  /**
   * Changes the chunk in place.
   *
   * @returns false once the answer itself has begun
   */
  rename(chunk: Buffer): boolean {
    for (let index = 0; index < chunk.length; index++) {
      const character = String.fromCharCode(chunk[index]!);
      if (this.#at === null) this.#afterStatus(character);
      else if (!this.#inStatus(character, chunk, index)) return false;
    }
    return true;
  }

  #inStatus(character: string, chunk: Buffer, index: number): boolean {
    const at = this.#at ?? 0;
    if (at < version.length && character !== version[at]) return false;
    if (at === hundreds && character !== "1") return false;
    if (at === tens) this.#isContinue = character === "0";
    this.#at = at === ones ? null : at + 1;
    if (at === ones && this.#isContinue && character === "0") chunk[index] = "2".charCodeAt(0);
    return true;
  }

  #afterStatus(character: string): void {
    if (character === blankLine[this.#blank]) this.#blank++;
    else this.#blank = character === "\r" ? 1 : 0;
    if (this.#blank < blankLine.length) return;
    this.#at = 0;
    this.#blank = 0;
  }
}
