import { AbortGroups } from "../../../core/abort.js";
import type { Dispatcher } from "undici";
import { CredentialMask } from "../../../core/redaction/credential-mask.js";
import { parseBase } from "../options.js";
import { Exchange, type ExchangeBounds } from "./exchange.js";
import { proxyOf } from "./proxy.js";
import { ShiftedAnswers } from "./shifted-answers.js";
import type { Receiver, Requests } from "../types.js";

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
  /**
   * The header with the credential, if any, as pairs of name and value. Only sent to the base address;
   * its value is hidden in answers.
   */
  readonly headers?: readonly (readonly [name: string, value: string])[] | undefined;
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
    };
    this.#headers = [...standardHeaders, ...own].flat();
  }

  get(path: string, signal: AbortSignal, receiver: Receiver): void {
    if (signal.aborted) return receiver.failed(signal.reason);
    const exchange = new Exchange(this.#bounds, path, receiver, signal, this.#aborts);
    const request = {
      origin: this.origin,
      path: this.#prefix + path,
      method: "GET",
      headers: this.#headers,
    } as const;
    try {
      this.#dispatcher.dispatch(request, exchange);
    } catch (error) {
      // undici's own dispatchers report errors to the exchange; others may throw.
      exchange.broke(error);
    }
  }
}

/** Masks the single credential that clients send; `credentialHeader` has validated it. */
function maskOf(
  headers: readonly (readonly [name: string, value: string])[],
): CredentialMask | null {
  const [header] = headers;
  return header === undefined ? null : new CredentialMask(header[1].replace(/^Bearer /, ""));
}
