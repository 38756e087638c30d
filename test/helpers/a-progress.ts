import type { RunProgress } from "../../src/jobs/enrich/tally.js";

/** The progress of a run of unknown length that has not begun. */
export function aProgress(members: Partial<RunProgress> = {}): RunProgress {
  return {
    rowsRead: 0,
    rowsWritten: 0,
    requests: 0,
    throttled: 0,
    pausedSeconds: 0,
    isAway: false,
    statuses: { complete: 0, partial: 0, invalid: 0, unsupported: 0, failed: 0 },
    verdicts: { malicious: 0, suspicious: 0, listed: 0, none: 0, unknown: 0 },
    bytesRead: 0,
    bytesTotal: 1000,
    ...members,
  };
}
