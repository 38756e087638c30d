/** A limit state as JSON. Times are milliseconds of the clock that its owner uses. */
export interface LimitSnapshot {
  readonly ticket: number;
  /** Null if there was no pause. */
  readonly pausedUntil: number | null;
  readonly probing: boolean;
  readonly adaptive: AdaptiveRateState | null;
  readonly pauses: ThrottlePausesState;
}

/** What was learned, as JSON. Times are milliseconds of the caller's clock. */
export interface AdaptiveRateState {
  readonly known: number | null;
  readonly cutAt: number;
  readonly searching: boolean;
  readonly accepted: AcceptedRateState;
  readonly answers: number;
  readonly throttles: number;
  readonly notedAt: number;
  readonly noise: ThrottleNoiseState;
  readonly right: number;
  readonly trying: "while searching" | "at half" | null;
  readonly waitMs: number;
  readonly cutTicket: number;
}

/** Counts of accepted answers as JSON. */
export interface AcceptedRateState {
  readonly counts: readonly number[];
  readonly bucket: number;
  readonly pauses: readonly { readonly from: number; readonly until: number }[];
}

/** Pauses as JSON. */
export interface ThrottlePausesState {
  readonly streak: number;
  readonly answers: number;
  readonly throttled: number;
}

/** An estimate as JSON. */
export interface ThrottleNoiseState {
  readonly share: number;
  readonly trying: boolean;
  readonly trial: {
    readonly evidence: number;
    readonly answers: number;
    readonly throttles: number;
  };
  readonly inRow: boolean;
  /** Null if a trial may start at any time. */
  readonly notBefore: number | null;
  readonly againMs: number;
}
