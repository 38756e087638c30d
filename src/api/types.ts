import type { IncomingHttpHeaders } from "undici/types/header.js";
import type { CallName } from "./calls.js";
import type { Abortable } from "../core/abort.js";
import type { LookupEndpoint } from "../core/finding.js";

/** Response headers by lower-case name; an array where a header came more than once. */
export type ResponseHeaders = IncomingHttpHeaders;

/** An HTTP answer, read to its end. */
export interface Answer {
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** The body without content coding. */
  readonly body: Buffer;
  /** True when the body went on, or broke off. */
  readonly truncated?: boolean;
}

/** Who is told, once, how a request ended. */
export interface Receiver {
  answered(answer: Answer): void;
  /** A `TransportError`, or the reason for which it was aborted. */
  failed(reason: unknown): void;
}

/** GET requests to one address; see `Transport`. */
export interface Requests {
  /**
   * Sends one request and reads its answer.
   *
   * @param path absolute path below the base address, encoded
   * @param signal aborting it ends the request with the signal's reason
   * @param receiver is told the answer, or the `TransportError` when there is none that could be read
   *   to its end
   * @returns what the request alone is ended with, where that can be
   */
  get(path: string, signal: AbortSignal, receiver: Receiver): Abortable | null;
}

/** The endpoints of the interface, as counts and reports name them. */
export type Endpoint = LookupEndpoint | CallName;

/** One request that was made, whatever became of it. */
export interface AttemptReport {
  readonly endpoint: Endpoint;
  /** HTTP status of the answer; null when none came. */
  readonly httpStatus: number | null;
  /** The HTTP status as text, or the code of the fault when no answer could be read to its end. */
  readonly outcome: string;
  /** Milliseconds from handing the request over to the end of its answer, with fractions. */
  readonly ms: number;
  /** Headers of the answer, for the hints that pacing reads from them; null when none came. */
  readonly headers: ResponseHeaders | null;
}

/**
 * How calls that are no lookups (tags, customers, cases) are made: paced and tried again, or not.
 * It runs `attempt` once or more and returns what one of them resolves to. `attempt` makes one request
 * and throws a `ServiceError`, whose `again` tells whether another attempt is worth while.
 */
export type CallPolicy = <T>(
  attempt: () => Promise<T>,
  options: { readonly signal: AbortSignal },
) => Promise<T>;

/** Options of a call that is no lookup. */
export interface CallOptions {
  /** Aborting it rejects the call with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}
