import type { Clock } from "../../core/clock.js";
import { EarlyEndError } from "../../core/errors.js";
import type { Rate } from "../../core/options.js";
import type { Throttling } from "../pace/request-pace.js";
import type { Pace } from "../pace/pace.js";
import type { RequestPace } from "../pace/request-pace.js";

export interface OpenPacesOptions {
  /** Address of the service; null for one that ends with this process, which remembers no quotas. */
  readonly service: string | null;
  /** Where rates per hour and longer are counted; null counts in memory, for this session only. */
  readonly stateFolder: string | null;
  readonly onWarning: (message: string) => void;
  readonly clock: Clock;
  readonly onEarlyEnd: (error: EarlyEndError) => void;
}

export interface PaceSettings {
  readonly rate?: readonly Rate[] | undefined;
}

/** The pace of a run, and what it has learned. */
export interface Paces {
  readonly run: RequestPace;
  /** What throttle answers have shown so far to the run's own pace. */
  readonly throttling: () => Throttling;
  /** Milliseconds until the pause after a throttle answer ends; 0 without one. */
  readonly pausedMs: () => number;
  /** Returns reserved but unused requests to their quotas. */
  giveBack(): Promise<void>;
}

/** @param open makes the pace whose quotas are counted under a name */
export function pacesOf(
  { rate = [] }: PaceSettings,
  open: (name: string, rates: readonly Rate[]) => Pace,
): Paces {
  const run = open(quotaOfAll, rate);
  return {
    run,
    throttling: () => run.limits.throttling,
    pausedMs: () => run.limits.pausedMs,
    giveBack: () => run.giveBack(),
  };
}

/** Name under which requests to all endpoints are counted together. */
export const quotaOfAll = "all";

/** The error that ends a run or command whose quota is used up. */
export function quotaUsedUp(rate: Rate | null, resumesAtMs: number): EarlyEndError {
  const quota =
    rate === null
      ? "the service's own quota"
      : `the quota of ${rate.count} requests in ${rate.perMs / 3_600_000} h`;
  const nextMinuteMs = Math.ceil(resumesAtMs / 60_000) * 60_000;
  const at = new Date(nextMinuteMs).toISOString().replace(/:\d\d\.\d+Z$/, "Z");
  return new EarlyEndError("quota_used_up", `${quota} is used up until ${at}`);
}
