import type { TransportFault } from "../http/transport-error.js";
import type { TransportOptions } from "../http/transport.js";
import type { ResponseHeaders } from "../types.js";

/** First message to the thread. */
export interface ThreadStart extends Omit<TransportOptions, "dispatcher"> {
  /** Maximum number of open connections. */
  readonly connections: number;
}

/** To the thread: requests to make and to abort. */
export interface Orders {
  /** `path` is below the base address and encoded. */
  readonly requests: (readonly [id: number, path: string])[];
  /** IDs of requests with no caller waiting. */
  readonly cancelled: number[];
}

/** From the thread: requests that ended since the last message. */
export interface Arrivals {
  /** Each answer's body is the next `length` bytes of `bodies`. */
  readonly answers: (readonly [
    id: number,
    status: number,
    length: number,
    headers: ResponseHeaders,
  ])[];
  readonly bodies: Uint8Array<ArrayBuffer>;
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
  /** JSON of everything except the bodies. */
  readonly text: string;
  readonly bodies: Uint8Array<ArrayBuffer>;
}
