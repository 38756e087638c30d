import { type CallName, calls } from "../client/api/calls.js";
import { type LookupEndpoint, lookupEndpoints } from "../core/finding.js";

/** The counted endpoints; `unknown` stands for any other path. */
export type EndpointName = LookupEndpoint | CallName | "unknown";

/** Path of an endpoint: `/beta/tags/{name}`. */
export function callPath(endpoint: EndpointName): string {
  if (endpoint === "unknown") return "*";
  if (!(endpoint in calls)) return `/beta/${endpoint}/{item}`;
  const { service, path } = calls[endpoint as CallName];
  return service === "intel" ? `/beta${path}` : path;
}

/** Whether the deployed service requires a key for an endpoint. */
export function isKeyed(endpoint: EndpointName): boolean {
  return (
    lookupEndpoints.some((name) => name === endpoint) ||
    (endpoint in calls && calls[endpoint as CallName].service === "intel")
  );
}

/** Injected faults, and requests over the rate limit. */
type FaultName = "partial" | "unavailable" | "reset" | "malformed" | "rate-limit";

interface EndpointCounts {
  readonly path: string;
  /** Requests received. Equals the sum of the outcomes when none is in flight. */
  readonly total: number;
  /**
   * HTTP status → requests answered with it. `reset`: connection broken on purpose. `aborted`: the
   * client disconnected before the answer.
   */
  readonly outcomes: Readonly<Record<string, number>>;
}

/** Body of `GET /_local/stats`. Requests below `/_local/` are not counted. */
export interface StatsSnapshot {
  /** Endpoints with at least one request. */
  readonly requests: Readonly<Partial<Record<EndpointName, EndpointCounts>>>;
  readonly faults: Readonly<Partial<Record<FaultName, number>>>;
  /** Requests without an outcome so far. */
  readonly in_flight: number;
}

/** Counts each request when it arrives, and its outcome when that is decided. */
export class RequestStats {
  readonly #endpoints = new Map<EndpointName, { total: number; outcomes: Map<string, number> }>();
  readonly #faults = new Map<FaultName, number>();
  #inFlight = 0;

  arrived(endpoint: EndpointName): void {
    this.#inFlight += 1;
    const counts = this.#endpoints.get(endpoint);
    if (counts) counts.total += 1;
    else this.#endpoints.set(endpoint, { total: 1, outcomes: new Map() });
  }

  ended(endpoint: EndpointName, outcome: string): void {
    this.#inFlight -= 1;
    const outcomes = this.#endpoints.get(endpoint)?.outcomes;
    outcomes?.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }

  fault(name: FaultName): void {
    this.#faults.set(name, (this.#faults.get(name) ?? 0) + 1);
  }

  snapshot(): StatsSnapshot {
    const requests: Partial<Record<EndpointName, EndpointCounts>> = {};
    for (const [name, { total, outcomes }] of this.#endpoints) {
      requests[name] = { path: callPath(name), total, outcomes: Object.fromEntries(outcomes) };
    }
    return { requests, faults: Object.fromEntries(this.#faults), in_flight: this.#inFlight };
  }
}
