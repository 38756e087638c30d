import type { IncomingHttpHeaders } from "undici/types/header.js";
import type { CallName } from "./calls.js";
import type { LookupEndpoint } from "../../core/finding.js";

/** Response headers by lower-case name; an array if a header repeats. */
export type ResponseHeaders = IncomingHttpHeaders;

export interface Answer {
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** The body after content decoding. */
  readonly body: Buffer;
}

/** Receives the outcome of a request, exactly once. */
export interface Receiver {
  answered(answer: Answer): void;
  /** Receives a `TransportError`, or the abort reason. */
  failed(reason: unknown): void;
}

/** GET requests to one address; see `Transport`. */
export interface Requests {
  /**
   * Sends one request and reads its answer.
   *
   * @param path absolute path below the base address, encoded
   * @param signal aborting it ends the request with the signal's reason
   * @param receiver receives the answer, or a `TransportError` if none could be read to its end
   */
  get(path: string, signal: AbortSignal, receiver: Receiver, options?: RequestOptions): void;
}

/** What only requests that others make heed. */
export interface RequestOptions {
  /** Which attempt at the lookup it is. @default 1 */
  readonly nth?: number;
  /** Aborts when the request is not wanted any more, unless it has been sent. @default the request's signal */
  readonly stop?: AbortSignal;
}

/** Endpoints, as named in counts and reports. */
export type Endpoint = LookupEndpoint | CallName;

/** One finished request, whatever its outcome. */
export interface AttemptReport {
  readonly endpoint: Endpoint;
  /** HTTP status of the answer; null without one. */
  readonly httpStatus: number | null;
  /** The HTTP status as text, or the error code if no complete answer arrived. */
  readonly outcome: string;
  /** Fractional milliseconds from handing the request over to the end of its answer. */
  readonly ms: number;
  /** Response headers, which pacing reads for hints; null without an answer. */
  readonly headers: ResponseHeaders | null;
}

/**
 * How to make calls other than lookups (tags, customers, cases): paced and retried, or not. Runs
 * `attempt` at least once and returns one of its results. `attempt` makes one request and throws a
 * `ServiceError`, whose `again` says whether to retry.
 */
export type CallPolicy = <T>(
  attempt: () => Promise<T>,
  options: { readonly signal: AbortSignal },
) => Promise<T>;

/** Options of a call other than a lookup. */
export interface CallOptions {
  /** Aborting it rejects the call with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}
