import type { TransportOptions } from "../transport.js";
import type { TransportFault } from "../transport-error.js";

/** What the thread is started with; it crosses by structured clone. */
export interface ThreadStart extends Omit<TransportOptions, "dispatcher"> {
  /** Most connections open at once. */
  readonly connections: number;
}

/** To the thread: what to ask, and what nobody waits for any more. */
export interface Orders {
  /** Where the answer to each path belongs. */
  readonly seats: readonly number[];
  /** Paths below the base address, encoded, one a line. */
  readonly paths: string;
  /** Seats whose request is to be broken off. Their end is told all the same. */
  readonly cancelled: readonly number[];
}

/** From the thread: what came since the last time. */
export interface Arrivals {
  /** As `packAnswers` wrote it. */
  readonly answers: ArrayBuffer;
  readonly count: number;
  /** Headers as JSON, each distinct set once; answers name them by index. */
  readonly headers: readonly string[];
  readonly faults: readonly ThreadFault[];
}

/** A request that brought no answer. */
export interface ThreadFault {
  readonly seat: number;
  /** Null when it was broken off. */
  readonly error: {
    readonly code: TransportFault;
    readonly message: string;
    readonly httpStatus: number | null;
    readonly cause: unknown;
  } | null;
}
