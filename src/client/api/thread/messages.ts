import type { TransportFault } from "../http/transport-error.js";
import type { TransportOptions } from "../http/transport.js";
import type { ResponseHeaders } from "../types.js";

// What a client and its request thread tell each other.

/** First message to the thread. */
export interface ThreadStart extends Omit<TransportOptions, "dispatcher"> {
  readonly connections: number;
}

/** A request to make. `path` is relative to the base address, and encoded. */
export type Order = readonly [id: number, path: string];

/** To the thread: requests to make, and ids of queued requests to drop. */
export type Orders = (Order | number)[];

/** From the thread: requests that ended since the last message. */
export interface Arrivals {
  /** Each answer's body is the next `length` bytes of the message's `bodies`. */
  readonly answers: (readonly [
    id: number,
    status: number,
    length: number,
    headers: ResponseHeaders,
  ])[];
  /** Requests without an answer. */
  readonly faults: {
    readonly id: number;
    readonly code: TransportFault;
    readonly message: string;
    readonly httpStatus: number | null;
    readonly cause: string | null;
  }[];
}

/** Arrivals as posted between threads: parsing text is cheaper than a structured clone. */
export interface ArrivalsMessage {
  /** `Arrivals` as JSON. */
  readonly text: string;
  readonly bodies: Uint8Array<ArrayBuffer>;
}
