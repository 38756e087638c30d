import type { LookupRecord } from "../../core/attempt.js";
import type { Manifest } from "../../core/manifest/manifest.js";
import { addCount, type Counts, mostFrequentFirst } from "./counters.js";

export interface RequestSnapshot extends Pick<Manifest, "requests" | "drift"> {
  /**
   * Requests of lookups that ended without a finding in the journal, as of the last orderly stop. A
   * resumed run starts from these and adds the requests recorded in the journal.
   */
  readonly unjournalled: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** Counts requests as they end. */
export class RequestTally {
  requestTotal = 0;
  /** True once the service has answered, whatever the status. */
  answered = false;
  /** Requests that were answered with 429. */
  throttled = 0;
  /** Lookups with a final record in the journal, by endpoint, and the requests they took. */
  readonly settled: Counts = new Map();
  settledRequests = 0;
  protected readonly drift: Counts = new Map();
  readonly #requests = new Map<string, Counts>();
  readonly #journalled = new Map<string, Counts>();
  #unjournalled: RequestSnapshot["unjournalled"];

  constructor(unjournalled: RequestSnapshot["unjournalled"] = {}) {
    this.#unjournalled = unjournalled;
    for (const [endpoint, outcomes] of Object.entries(unjournalled)) {
      this.requestsTo(endpoint, outcomes);
    }
  }

  requestsTo(endpoint: string, outcomes: Readonly<Record<string, number>>): void {
    for (const [outcome, n] of Object.entries(outcomes)) this.request(endpoint, outcome, n);
  }

  /** Counts a finished request by HTTP status or transport fault code. */
  request(endpoint: string, outcome: string, n = 1): void {
    addCount(outcomesOf(this.#requests, endpoint), outcome, n);
    this.requestTotal += n;
    // Called for every request, so test only until the first answer: a number is an HTTP status.
    if (!this.answered) this.answered = /^\d+$/.test(outcome);
    if (outcome === "429") this.throttled += n;
  }

  /** Counts a record that is written to the journal, or replayed from it. */
  journalled(endpoint: string, { origin, drift, again, finding }: LookupRecord): void {
    if (again === null) {
      addCount(this.settled, endpoint);
      this.settledRequests += finding.attempts;
    }
    for (const outcome of origin?.outcomes ?? []) {
      addCount(outcomesOf(this.#journalled, endpoint), outcome);
    }
    for (const value of drift) addCount(this.drift, value);
  }

  /**
   * Call once every lookup has ended: requests that are not in the journal by now never will be.
   */
  settle(): void {
    const rest: Record<string, Record<string, number>> = {};
    for (const [endpoint, outcomes] of this.#requests) {
      for (const [outcome, n] of outcomes) {
        const missing = n - (this.#journalled.get(endpoint)?.get(outcome) ?? 0);
        if (missing > 0) (rest[endpoint] ??= {})[outcome] = missing;
      }
    }
    this.#unjournalled = rest;
  }

  protected requestCounts(): RequestSnapshot {
    return {
      requests: Object.fromEntries(
        // Sort by name: the order of first answers differs from run to run.
        [...this.#requests]
          .sort(([one], [other]) => (one < other ? -1 : 1))
          .map(([endpoint, outcomes]) => [endpoint, countsTo(outcomes)]),
      ),
      drift: mostFrequentFirst(this.drift),
      unjournalled: this.#unjournalled,
    };
  }
}

function outcomesOf(requests: Map<string, Counts>, endpoint: string): Counts {
  const outcomes: Counts = requests.get(endpoint) ?? new Map();
  requests.set(endpoint, outcomes);
  return outcomes;
}

function countsTo(counts: Counts): Manifest["requests"][string] {
  const total = [...counts.values()].reduce((sum, n) => sum + n, 0);
  return { total, outcomes: mostFrequentFirst(counts) };
}
