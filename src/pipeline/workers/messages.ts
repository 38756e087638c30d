import type { ErrorCode } from "../../core/error-codes.js";
import {
  EarlyEndError,
  FatalError,
  InterruptedError,
  ReputeError,
  type StopSignal,
  UsageError,
} from "../../core/errors.js";
import type { Finding, LookupEndpoint } from "../../core/finding.js";
import type { Rate } from "../../core/options.js";
import type { ChunkJob } from "../chunks/run-chunk.js";
import type { Manifest, RunProgress } from "../types.js";

/** Name of a pace: that of the run, or of an endpoint. */
export type PaceName = "run" | LookupEndpoint;

/** A ticket, and how many slots or answers have it. */
export type TicketCount = readonly [ticket: number, count: number];

/** What a worker has to know before its first chunk. */
export interface WorkerStart extends Pick<
  ChunkJob,
  "settings" | "serviceName" | "embedded" | "stateFolder" | "apiKey" | "command"
> {
  readonly type: "start";
  /** Path of the work folder. */
  readonly work: string;
  /** Endpoints with a pace of their own. */
  readonly shares: readonly LookupEndpoint[];
  /** Most slots that a worker may hold in stock. */
  readonly mostAhead: number;
}

/** From the parent to a worker. */
export type Order =
  | WorkerStart
  | { readonly type: "chunk"; readonly chunk: number }
  | { readonly type: "slots"; readonly pace: PaceName; readonly granted: readonly TicketCount[] }
  | { readonly type: "answer"; readonly key: string; readonly finding: Finding | null }
  /** No more requests: the chunk ends early. */
  | { readonly type: "end"; readonly error: SentError }
  /** The run was interrupted. */
  | { readonly type: "stop"; readonly signal: StopSignal };

/** What became of requests since the last report. */
export interface Outcomes {
  readonly type: "outcomes";
  readonly pace: PaceName;
  /** Slots wanted. */
  readonly take: number;
  /** Tickets of requests that were answered, or ended if the pace is an endpoint's. */
  readonly succeeded: readonly TicketCount[];
  readonly throttled: readonly { readonly afterMs: number | null; readonly ticket: number }[];
  readonly holds: readonly number[];
  readonly advice: readonly { readonly by: string; readonly rate: Rate }[];
}

/** From a worker to the parent. */
export type WorkerReport =
  | Outcomes
  | { readonly type: "claim"; readonly key: string }
  | { readonly type: "settled"; readonly key: string; readonly finding: Finding | null }
  | { readonly type: "progress"; readonly progress: RunProgress }
  | { readonly type: "warning"; readonly message: string }
  | { readonly type: "done" }
  /** `record`: the manifest of the chunk so far; null if it did not begin. */
  | { readonly type: "failed"; readonly error: SentError; readonly record: Manifest | null };

/** An error as it travels between processes. */
export interface SentError {
  readonly kind: "usage" | "early" | "interrupted" | "fatal" | "unexpected";
  readonly code: ErrorCode | null;
  readonly message: string;
  readonly hint: string | null;
  readonly signal: StopSignal | null;
}

export function sendError(error: unknown): SentError {
  const message = error instanceof Error ? error.message : String(error);
  const known = error instanceof ReputeError ? error : null;
  const kind =
    known === null
      ? "unexpected"
      : known instanceof UsageError
        ? "usage"
        : known instanceof EarlyEndError
          ? "early"
          : known instanceof InterruptedError
            ? "interrupted"
            : "fatal";
  const signal = known instanceof InterruptedError ? known.signal : null;
  return { kind, code: known?.code ?? null, message, hint: known?.hint ?? null, signal };
}

export function receiveError({ kind, code, message, hint, signal }: SentError): Error {
  const options = hint === null ? {} : { hint };
  if (signal !== null) return new InterruptedError(signal);
  if (code === null) return new Error(message);
  if (kind === "usage") return new UsageError(code, message, options);
  return kind === "early"
    ? new EarlyEndError(code, message, options)
    : new FatalError(code, message, options);
}
