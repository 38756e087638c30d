import type { IntelClient } from "../api/intel-client.js";
import type { LookupClient } from "../lookup/compose.js";
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
