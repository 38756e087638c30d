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
  readonly requests: {
    readonly id: number;
    /** Path below the base address, encoded. */
    readonly path: string;
  }[];
  /** Ids of requests that nobody waits for any more. */
  readonly cancelled: number[];
}

/** An answer; its body is the next `length` bytes of the message's bodies. */
export interface ThreadAnswer {
  readonly id: number;
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly length: number;
  /** Milliseconds from sending to the last byte. */
  readonly tookMs: number;
}

/** A request that brought no answer. */
export interface ThreadFault {
  readonly id: number;
  readonly code: TransportFault;
  readonly message: string;
  readonly httpStatus: number | null;
  readonly cause: string | null;
}

/** From the thread: what ended since the last message. */
export interface Arrivals {
  readonly answers: readonly ThreadAnswer[];
  readonly bodies: Uint8Array<ArrayBuffer>;
  readonly faults: readonly ThreadFault[];
}
