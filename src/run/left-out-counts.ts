import {
  countedVerdicts,
  type FindingStatus,
  findingStatuses,
  type VerdictCounts,
} from "../core/finding.js";
import type { LeftOutCounts } from "../core/manifest/manifest.js";
import { type LeftOutReason, leftOutReasons, zeros } from "../core/row.js";

/** Counts the rows that are not written, by reason, status and verdict. */
export class LeftOutCounter {
  rows = 0;
  readonly #reasons = zeros(leftOutReasons);
  readonly #statuses = zeros(findingStatuses);
  readonly #verdicts = zeros(countedVerdicts);

  constructor(from?: LeftOutCounts) {
    if (from !== undefined) this.add(from);
  }

  row(reason: LeftOutReason, status: FindingStatus, verdict: keyof VerdictCounts): void {
    this.rows++;
    this.#reasons[reason]++;
    this.#statuses[status]++;
    this.#verdicts[verdict]++;
  }

  add({ statuses, verdicts, ...reasons }: LeftOutCounts): void {
    for (const reason of leftOutReasons) {
      this.#reasons[reason] += reasons[reason];
      this.rows += reasons[reason];
    }
    for (const status of findingStatuses) this.#statuses[status] += statuses[status];
    for (const verdict of countedVerdicts) this.#verdicts[verdict] += verdicts[verdict];
  }

  counts(): LeftOutCounts {
    return {
      ...this.#reasons,
      statuses: { ...this.#statuses },
      verdicts: { ...this.#verdicts },
    };
  }
}
