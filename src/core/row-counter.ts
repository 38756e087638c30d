import { findingStatuses } from "./finding.js";
import type { FindingStatus } from "./finding.js";
import { verdicts } from "./verdict.js";
import type { Verdict } from "./verdict.js";

/** The rows of an output, counted. */
export interface RowCounts {
  readonly rows: number;
  readonly statuses: Readonly<Record<FindingStatus, number>>;
  /** Rows by verdict, those without one left out; null for an output of schema version 1. */
  readonly verdicts: Readonly<Record<Verdict, number>> | null;
}

/** Counts the rows of an output that is read back. */
export class RowCounter {
  readonly #hasVerdicts: boolean;
  #rows = 0;
  readonly #statuses = zeros(findingStatuses);
  readonly #verdicts = zeros(verdicts);

  /** @param hasVerdicts false for an output of schema version 1 */
  constructor(hasVerdicts: boolean) {
    this.#hasVerdicts = hasVerdicts;
  }

  get rows(): number {
    return this.#rows;
  }

  /**
   * Counts rows that have this status and this verdict.
   *
   * @param verdict null for none
   * @returns what is wrong with them, or null
   */
  count(status: unknown, verdict: unknown, rows = 1): string | null {
    this.#rows += rows;
    if (!isIn(this.#statuses, status)) return "no status";
    this.#statuses[status] += rows;
    if (!this.#hasVerdicts || verdict === null) return null;
    if (!isIn(this.#verdicts, verdict)) return "an unknown verdict";
    this.#verdicts[verdict] += rows;
    return null;
  }

  found(): RowCounts {
    return {
      rows: this.#rows,
      statuses: this.#statuses,
      verdicts: this.#hasVerdicts ? this.#verdicts : null,
    };
  }
}

function zeros<K extends string>(names: readonly K[]): Record<K, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<K, number>;
}

function isIn<K extends string>(counts: Record<K, number>, name: unknown): name is K {
  return typeof name === "string" && Object.hasOwn(counts, name);
}
