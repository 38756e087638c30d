import { type LookupEndpoint, lookupEndpoints } from "../core/finding.js";

/** The other endpoints whose requests are counted; `unknown` takes every path that is none of them. */
const otherPaths = {
  tags: "/beta/tags",
  tag: "/beta/tags/{name}",
  "tag-ips": "/beta/tags/{name}/ips",
  customers: "/beta/ops/customers",
  "rep-share-case": "/beta/guardian-ops/rep-share/cases/{caseId}",
  "case-context": "/api/v1/cases/{caseId}/context",
  unknown: "*",
} as const;

export type EndpointName = LookupEndpoint | keyof typeof otherPaths;

/** The endpoints of the threat intelligence interface, which the deployed service wants a key for. */
export const keyedEndpoints: ReadonlySet<EndpointName> = new Set([
  ...lookupEndpoints,
  "tags",
  "tag",
  "tag-ips",
] as const);

export function isLookup(name: string | undefined): name is LookupEndpoint {
  return lookupEndpoints.some((endpoint) => endpoint === name);
}

function pathOf(endpoint: EndpointName): string {
  return isLookup(endpoint) ? `/beta/${endpoint}/{item}` : otherPaths[endpoint];
}

/** Faults that the service made on request, and requests over its rate limit. */
export type FaultName = "partial" | "unavailable" | "reset" | "malformed" | "rate-limit";

interface EndpointCounts {
  readonly path: string;
  /** Requests that arrived; equals the sum of the outcomes when none is in flight. */
  readonly total: number;
  /**
   * HTTP status → requests answered with it; `reset`: the connection was broken on purpose;
   * `aborted`: the client went away before the answer.
   */
  readonly outcomes: Readonly<Record<string, number>>;
}

/** Body of `GET /_local/stats`. Requests below `/_local/` are not counted. */
export interface StatsSnapshot {
  /** Endpoints that were asked at least once. */
  readonly requests: Readonly<Partial<Record<EndpointName, EndpointCounts>>>;
  readonly faults: Readonly<Partial<Record<FaultName, number>>>;
  /** Requests that have no outcome yet. */
  readonly in_flight: number;
}

/** Counts each request once when it arrives and once when its outcome is decided. */
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
      requests[name] = { path: pathOf(name), total, outcomes: Object.fromEntries(outcomes) };
    }
    return { requests, faults: Object.fromEntries(this.#faults), in_flight: this.#inFlight };
  }
}
