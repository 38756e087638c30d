import type { TransportFault } from "../http/transport-error.js";
import type { TransportOptions } from "../http/transport.js";
import type { ResponseHeaders } from "../types.js";

/** First message to the thread. */
export interface ThreadStart extends Omit<TransportOptions, "dispatcher"> {
  /** Most connections open at once. */
  readonly connections: number;
}

/** To the thread: what to request, and what to break off. */
export interface Orders {
  /** Each with its path below the base address, encoded. */
  readonly requests: { readonly id: number; readonly path: string }[];
  /** Ids of requests that nobody waits for any more. */
  readonly cancelled: number[];
}

/** From the thread: what ended since the last message. */
export interface Arrivals {
  /** The body of each answer is the next `length` bytes of `bodies`. */
  readonly answers: {
    readonly id: number;
    readonly status: number;
    readonly headers: ResponseHeaders;
    readonly length: number;
  }[];
  readonly bodies: Uint8Array<ArrayBuffer>;
  /** Requests that brought no answer. */
  readonly faults: {
    readonly id: number;
    readonly code: TransportFault;
    readonly message: string;
    readonly httpStatus: number | null;
    readonly cause: string | null;
  }[];
}

/** Arrivals as they cross to the caller's thread: parsing text is cheaper than a structured clone. */
export interface ArrivalsMessage {
  /** JSON of all but the bodies. */
  readonly text: string;
  readonly bodies: Uint8Array<ArrayBuffer>;
}
