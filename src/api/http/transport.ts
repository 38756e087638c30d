import { AbortGroups, type Abortable } from "../../core/abort.js";
import type { Dispatcher } from "undici";
import { CredentialMask } from "../../core/credential-mask.js";
import { parseBase } from "../options.js";
import { Exchange, type ExchangeBounds } from "./exchange.js";
import { proxyOf } from "./dispatcher.js";
import { ShiftedAnswers } from "./shifted-answers.js";
import type { Answer, Receiver, Requests } from "../types.js";

/** Largest body that is read by default (behaviour: Answers). */
const defaultMaxBodyBytes = 8 * 1024 * 1024;

const standardHeaders: readonly (readonly [string, string])[] = [
  ["accept", "application/json"],
  // Answers are small: decoding would cost more than it saves on the wire.
  ["accept-encoding", "identity"],
  ["user-agent", "repute"],
];

export interface TransportOptions {
  /** Address that paths are appended to, with or without a closing `/`. */
  readonly baseUrl: string;
  /** Where connections come from; see `createDispatcher`. */
  readonly dispatcher: Dispatcher;
  /** Longest time of one attempt from its start to the last byte. Milliseconds. @default 30000 */
  readonly timeoutMs?: number | undefined;
  /** Largest body, before and after decoding. Bytes. @default 8 MiB */
  readonly maxBodyBytes?: number | undefined;
  /**
   * The header with the credential, where there is one: pairs of name and value. It goes to the base
   * address alone, and its value is hidden in answers.
   */
  readonly headers?: readonly (readonly [name: string, value: string])[] | undefined;
  /** Whether the status counts where the body is too long or breaks off; see `Answer.truncated`. */
  readonly beginningOnly?: boolean | undefined;
}

/** A request that may change something. */
export interface Outgoing {
  readonly method: Dispatcher.HttpMethod;
  /** Absolute path below the base address, encoded, with its query. */
  readonly path: string;
  /** Sent instead of the standard headers, beside the credential. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/**
 * Requests to one address. One call is one request: nothing is tried again, no redirect is
 * followed, and an answer of any status is read to its end and returned.
 */
export class Transport implements Requests {
  /** Scheme, host and port; what messages name. */
  readonly origin: string;
  readonly #prefix: string;
  readonly #dispatcher: Dispatcher;
  readonly #bounds: ExchangeBounds;
  /** The credential. */
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

  /** Without a promise of its own: the caller has one. */
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
      // undici's own dispatchers tell the exchange; another one may throw.
      exchange.broke(error);
    }
    return exchange;
  }
}

/** Hides the one credential that clients send, `credentialHeader` checked it. */
function maskOf(
  headers: readonly (readonly [name: string, value: string])[],
): CredentialMask | null {
  const [header] = headers;
  return header === undefined ? null : new CredentialMask(header[1].replace(/^Bearer /, ""));
}
