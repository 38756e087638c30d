import { createDispatcher } from "../../api/http/dispatcher.js";
import { IntelClient } from "../../api/intel-client.js";
import type { Clock } from "../../core/clock.js";
import type { LookupEndpoint } from "../../core/finding.js";
import { AddressWatch } from "../../lookup/address-watch.js";
import { composeLookup } from "../../lookup/compose.js";
import { MemoryStore } from "../../store/memory-store.js";
import type { Pace } from "../../lookup/pace/pace.js";
import type { Lookup } from "../../lookup/types.js";

export interface OneOffLookupOptions {
  /** Base address of the threat intelligence interface. */
  readonly intelUrl: string;
  /** Milliseconds that one request may take. */
  readonly timeout: number;
  readonly lookups: readonly LookupEndpoint[];
  readonly concurrency: number;
  readonly pace: Pace;
  readonly retries: number;
  readonly partialRetries: number;
  /** Sent as `x-api-key`; null to send none. */
  readonly apiKey: string | null;
  readonly clock: Clock;
  /** Aborting it ends requests that are open; a lookup's own signal ends what waits to be sent. */
  readonly requests: AbortSignal;
}

export interface OneOffLookup {
  readonly lookup: Lookup;
  /** What a person should know once all answers are in. */
  warnings(): readonly string[];
  /** Closes the connections. */
  close(): Promise<void>;
}

/** Lookups by hand: paced and tried again as those of a run, but nothing is kept beyond the process. */
export function openOneOffLookup(options: OneOffLookupOptions): OneOffLookup {
  const { intelUrl, concurrency, clock } = options;
  const dispatcher = createDispatcher(intelUrl, { connections: concurrency });
  const address = new AddressWatch({ address: intelUrl });
  const client = new IntelClient({
    baseUrl: intelUrl,
    dispatcher,
    clock,
    apiKey: options.apiKey ?? undefined,
    timeoutMs: options.timeout,
    asReceived: true,
    onAttempt: (attempt) => address.note(attempt),
  });
  const open = { signal: options.requests };
  const lookup = composeLookup({
    client: { attempt: (endpoint, item) => client.attempt(endpoint, item, open) },
    lookups: options.lookups,
    concurrency,
    pace: options.pace,
    retries: options.retries,
    partialRetries: options.partialRetries,
    store: new MemoryStore(),
    clock,
  });
  return { lookup, warnings: () => address.warnings(), close: () => dispatcher.destroy() };
}
