import { createDispatcher } from "../../api/http/dispatcher.js";
import { systemClock } from "../../core/clock.js";
import { ResourceStack } from "../../core/resource-stack.js";
import { openCacheAt } from "../../store/cache/open-cache.js";
import { openPaces } from "../../session/open-connections.js";
import type { EnrichSettings } from "../../run/options.js";
import type { SharedResources } from "../../run/types.js";

export interface SharedByChunksOptions {
  readonly settings: EnrichSettings;
  readonly stateFolder: string | null;
  readonly onWarning: (message: string) => void;
  /** Called when a quota is used up. */
  readonly onEarlyEnd: (error: Error) => void;
}

/** Connections, pace and cache of a run, kept open from chunk to chunk. */
export class SharedByChunks {
  readonly resources: SharedResources;
  readonly #key: string;
  readonly #stack: ResourceStack;

  private constructor(resources: SharedResources, key: string, stack: ResourceStack) {
    this.resources = resources;
    this.#key = key;
    this.#stack = stack;
  }

  /** @throws UsageError `no_address`, `driver_missing`; FatalError `redis_refused` */
  static async open(plan: string, options: SharedByChunksOptions): Promise<SharedByChunks> {
    const { settings, stateFolder, onWarning, onEarlyEnd } = options;
    const { intelUrl: service = "", cache: folder, cacheTtl: ttlMs } = settings;
    const stack = new ResourceStack();
    try {
      // A thread for the requests would start anew with each chunk; workers are processes already.
      const dispatcher = createDispatcher(service, { connections: settings.concurrency });
      stack.defer(() => dispatcher.destroy());
      const clock = systemClock;
      const quotas = { service, stateFolder, output: null, onWarning };
      const paces = await openPaces(settings, { quotas, clock, onEarlyEnd });
      stack.defer(() => paces.giveBack());
      const cache =
        folder === undefined
          ? undefined
          : stack.use(await openCacheAt({ folder, ttlMs, clock, onWarning, asReceived: true }));
      const resources = {
        connections: dispatcher,
        pace: paces.run,
        shares: paces.shares,
        probes: paces.probes,
        cache,
      };
      return new SharedByChunks(resources, keyOf(plan, settings), stack);
    } catch (error) {
      await stack.close().catch(() => undefined);
      throw error;
    }
  }

  /** Whether a chunk of a run can use them. */
  fits(plan: string, settings: EnrichSettings): boolean {
    return keyOf(plan, settings) === this.#key;
  }

  close(): Promise<void> {
    return this.#stack.close().catch(() => undefined);
  }
}

/** A run that is resumed may have other rates. */
function keyOf(plan: string, settings: EnrichSettings): string {
  return `${plan} ${JSON.stringify(settings)}`;
}
