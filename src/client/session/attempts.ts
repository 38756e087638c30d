import type { IntelClient } from "../api/intel-client.js";
import type { LookupClient } from "../lookup/compose.js";
import { longestWaitMs } from "../../core/attempt.js";
import type { RequestPace } from "../pace/request-pace.js";
import type { LookupUse } from "./types.js";

type Use = Pick<LookupUse, "requests" | "run">;

/** The attempts of a client that makes its requests here. */
export function directly(client: IntelClient, { requests }: Use): LookupClient {
  const open = requests && { signal: requests };
  return { attempt: (endpoint, item, own) => client.attempt(endpoint, item, open ?? own) };
}

/** The attempts of a client whose requests wait in a queue, until workers make them. */
export function throughWorkers(client: IntelClient, { requests, run }: Use): LookupClient {
  const isUrgent = run === undefined;
  return {
    attempt(endpoint, item, { signal: stop, history }) {
      const nth = (history?.attempts.length ?? 0) + 1;
      return client.attempt(endpoint, item, { signal: requests ?? stop, stop, nth, isUrgent });
    },
  };
}

/** The pace of requests that workers make, who slow down themselves: quotas, the service's own too. */
export function paceOfQueued(pace: RequestPace): RequestPace {
  const hold = (ms: number | null): void =>
    void (ms !== null && ms > longestWaitMs && pace.hold(ms));
  const ignore = (): void => undefined;
  return {
    take: (signal) => pace.take(signal),
    throttled: hold,
    succeeded: ignore,
    hold,
    advise: ignore,
  };
}
