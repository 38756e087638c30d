import type { TransportOptions } from "../http/transport.js";
import type { TransportFault } from "../http/transport-error.js";

/** What the thread is told first. */
export interface ThreadStart extends Omit<TransportOptions, "dispatcher"> {
  /** Most connections open at once. */
  readonly connections: number;
  /** Where answers are kept until whoever asked has kept them. */
  readonly arrivals?: ArrivalLogOptions | undefined;
}

/** Where a log of arrivals is, and how much of it. */
export interface ArrivalLogOptions {
  /** Folder of its files; it has to be there. */
  readonly folder: string;
  /** So many of the latest answers are in it at least: as many as may be on their way. */
  readonly answers: number;
}

/** To the thread: what to ask, and what nobody waits for any more. */
export interface Orders {
  /** Where the answer to each path belongs. */
  readonly seats: readonly number[];
  /** Paths below the base address, encoded, one a line. */
  readonly paths: string;
  /** Seats whose request is to be broken off. Their end is told all the same. */
  readonly cancelled: readonly number[];
  /** True to get back unsent what waits for a connection. */
  readonly handBack: boolean;
  /** The latest `epoch` of `Arrivals` whose answers were all taken. */
  readonly epoch: number;
}

/** Answers in one buffer, as `packAnswers` wrote it. */
export interface AnswerPack {
  readonly answers: ArrayBuffer;
  /** Where in it the numbers begin. */
  readonly offset: number;
  readonly count: number;
  /** Headers as JSON, each distinct set once; answers name them by index. */
  readonly headers: readonly string[];
}

/** From the thread: what came since the last time. */
export interface Arrivals extends AnswerPack {
  readonly faults: readonly ThreadFault[];
  /** Seats whose request was not sent, because the service throttles. */
  readonly unsent: readonly number[];
  /**
   * How often the service throttled so far. Orders of who does not know it yet are handed back: it is
   * not known there that it is time to wait.
   */
  readonly epoch: number;
  /** Why the log of arrivals cannot be written. Nothing is sent any more then. */
  readonly logFault: { readonly code: string | undefined; readonly message: string } | null;
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
