import { type CallName, calls } from "../client/api/calls.js";
import { type LookupEndpoint, lookupEndpoints } from "../core/finding.js";

/** The endpoints that are counted. `unknown` is any other path. */
export type EndpointName = LookupEndpoint | CallName | "unknown";

/** An endpoint's path, as in `/beta/tags/{name}`. */
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

interface Counts {
  readonly path: string;
  /** Requests received. Equals the sum of the outcomes when none is in flight. */
  total: number;
  /**
   * HTTP status → requests answered with it. `reset`: connection broken on purpose. `aborted`: the
   * client disconnected before the answer.
   */
  readonly outcomes: Record<string, number>;
}

/** Body of `GET /_local/stats`. Requests below `/_local/` are not counted. */
export interface StatsSnapshot {
  /** Endpoints with at least one request. */
  readonly requests: Readonly<Partial<Record<EndpointName, Readonly<Counts>>>>;
  readonly faults: Readonly<Partial<Record<FaultName, number>>>;
  /** Requests that have no outcome yet. */
  readonly in_flight: number;
}

/** Counts each request on arrival, and its outcome once known. */
export class RequestStats {
  readonly #requests: Partial<Record<EndpointName, Counts>> = {};
  readonly #faults: Partial<Record<FaultName, number>> = {};
  #inFlight = 0;

  arrived(endpoint: EndpointName): void {
    this.#inFlight += 1;
    const fresh = { path: callPath(endpoint), total: 0, outcomes: {} };
    (this.#requests[endpoint] ??= fresh).total += 1;
  }

  ended(endpoint: EndpointName, outcome: string): void {
    this.#inFlight -= 1;
    const { outcomes } = this.#requests[endpoint]!;
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  }

  fault(name: FaultName): void {
    this.#faults[name] = (this.#faults[name] ?? 0) + 1;
  }

  snapshot(): StatsSnapshot {
    const counts = { requests: this.#requests, faults: this.#faults, in_flight: this.#inFlight };
    return structuredClone(counts);
  }
}
