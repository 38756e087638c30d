import { AbortGroups, type Abortable } from "../../core/abort.js";
import type { Dispatcher } from "undici";
import { CredentialMask } from "../../core/redaction/credential-mask.js";
import { parseBase } from "../options.js";
import { Exchange, type ExchangeBounds } from "./exchange.js";
import { proxyOf } from "./proxy.js";
import { ShiftedAnswers } from "./shifted-answers.js";
import type { Answer, Receiver, Requests } from "../types.js";
import { createDispatcher } from "./dispatcher.js";

const defaultMaxBodyBytes = 8 * 1024 * 1024;

const standardHeaders: readonly (readonly [string, string])[] = [
  ["accept", "application/json"],
  // Answers are small: decoding would cost more than compression saves.
  ["accept-encoding", "identity"],
  ["user-agent", "repute"],
];

export interface TransportOptions {
  /** Base address, with or without a trailing `/`. */
  readonly baseUrl: string;
  /** Connections to use; see `createDispatcher`. */
  readonly dispatcher: Dispatcher;
  /** Timeout for one attempt, from start to last byte, in milliseconds. @default 30000 */
  readonly timeoutMs?: number | undefined;
  /** Maximum body size in bytes, before and after decoding. @default 8 MiB */
  readonly maxBodyBytes?: number | undefined;
  /**
   * The header with the credential, if any, as pairs of name and value. Only sent to the base address;
   * its value is hidden in answers.
   */
  readonly headers?: readonly (readonly [name: string, value: string])[] | undefined;
  /** Whether an answer counts even if its body is too long or breaks off; see `Answer.truncated`. */
  readonly beginningOnly?: boolean | undefined;
}

/** A request that may change something. */
interface Outgoing {
  readonly method: Dispatcher.HttpMethod;
  /** Absolute path below the base address, encoded, including the query. */
  readonly path: string;
  /** Replaces the standard headers; the credential is added. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/**
 * Makes requests to one address. Each call is one request: no retries, no redirects; answers of any
 * status are read to their end and returned.
 */
export class Transport implements Requests {
  /** Scheme, host and port, as shown in messages. */
  readonly origin: string;
  readonly #prefix: string;
  readonly #dispatcher: Dispatcher;
  readonly #bounds: ExchangeBounds;
  /** The credential's header. */
  readonly #own: readonly string[];
  readonly #headers: string[];
  readonly #aborts = new AbortGroups();

  constructor(options: TransportOptions) {
    const base = parseBase(options.baseUrl);
    this.origin = base.origin;
    this.#prefix = base.pathname.replace(/\/+$/, "");
    this.#dispatcher = options.dispatcher;
    const own = options.headers ?? [];
    this.#bounds = {
      origin: this.origin,
      proxy: proxyOf(options.dispatcher),
      timeoutMs: options.timeoutMs ?? 30_000,
      shifted: new ShiftedAnswers(),
      mask: maskOf(own),
      maxBodyBytes: options.maxBodyBytes ?? defaultMaxBodyBytes,
      beginningOnly: options.beginningOnly ?? false,
    };
    this.#own = own.flat();
    this.#headers = [...standardHeaders.flat(), ...this.#own];
  }

  /** Reports to `receiver` instead of returning a promise, since the caller has one already. */
  get(path: string, signal: AbortSignal, receiver: Receiver): Abortable | null {
    return this.#dispatch(path, { method: "GET", headers: this.#headers }, signal, receiver);
  }

  /** Resolves to the answer. @throws TransportError, or the signal's reason */
  send({ path, method, headers, body }: Outgoing, signal: AbortSignal): Promise<Answer> {
    const request = { method, body, headers: [...Object.entries(headers).flat(), ...this.#own] };
    return new Promise((answered, failed) => {
      this.#dispatch(path, request, signal, { answered, failed });
    });
  }

  #dispatch(
    path: string,
    {
      method,
      headers,
      body = null,
    }: { method: Dispatcher.HttpMethod; headers: string[]; body?: string | null },
    signal: AbortSignal,
    receiver: Receiver,
  ): Abortable | null {
    if (signal.aborted) {
      receiver.failed(signal.reason);
      return null;
    }
    const exchange = new Exchange(this.#bounds, path, receiver, signal, this.#aborts);
    const request = { origin: this.origin, path: this.#prefix + path, method, headers, body };
    try {
      this.#dispatcher.dispatch(request, exchange);
    } catch (error) {
      // undici's own dispatchers report errors to the exchange; others may throw.
      exchange.broke(error);
    }
    return exchange;
  }
}

/** Masks the single credential that clients send; `credentialHeader` has validated it. */
function maskOf(
  headers: readonly (readonly [name: string, value: string])[],
): CredentialMask | null {
  const [header] = headers;
  return header === undefined ? null : new CredentialMask(header[1].replace(/^Bearer /, ""));
}

/** A request to an address of the user's own: a webhook's receiver, or a monitor. */
interface OneRequest {
  readonly url: URL;
  readonly method: Dispatcher.HttpMethod;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** The `Authorization` header; hidden in the answer. */
  readonly authorization: string | null;
  /** From connecting to the last byte read, in milliseconds. */
  readonly timeoutMs: number;
  /** The answer's body is not read further than this. */
  readonly keptBytes: number;
  /** Source of the proxy's address. @default process.env */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/**
 * Makes one request over its own connection, without following redirects. Succeeds once there is a
 * status, even if the body is longer than what is kept, or breaks off.
 *
 * @throws TransportError; UsageError for an unusable proxy; the signal's reason if aborted
 */
export async function sendOnce(request: OneRequest, signal: AbortSignal): Promise<Answer> {
  const { url, method, headers, body, authorization, timeoutMs, keptBytes, env } = request;
  const options = env === undefined ? { connections: 1 } : { connections: 1, env };
  const dispatcher = createDispatcher(url.origin, options);
  try {
    const transport = new Transport({
      baseUrl: url.origin,
      dispatcher,
      timeoutMs,
      beginningOnly: true,
      maxBodyBytes: keptBytes,
      headers: authorization === null ? [] : [["authorization", authorization]],
    });
    const path = url.pathname + url.search;
    return await transport.send({ method, path, headers, body }, signal);
  } finally {
    await dispatcher.destroy();
  }
}
