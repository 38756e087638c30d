import { dirname, join } from "node:path";
import type { Rate } from "../../core/options.js";
import { systemFault } from "../store-fault.js";
import { entriesOf, nothingCounted, type QuotaCounts } from "./quota-file.js";
import { QuotaFolder, readQuotaCounts } from "./quota-folder.js";
import { quotaName } from "./quota.js";
import {
  MemoryQuotaStore,
  type QuotaStore,
  type Reservation,
  type ReserveOptions,
  spentOf,
} from "./quota-store.js";

export interface QuotaPlaces {
  /** Address of the service whose quotas are counted. */
  readonly service: string;
  /** The user's folder for what outlives runs; null where there is none. */
  readonly stateFolder: string | null;
  /** Path of the output, beside which quotas are counted where that folder cannot be used; null: none. */
  readonly output?: string | null | undefined;
  /** Told where quotas are counted when not in the user's folder, and about damage. */
  readonly onWarning: (message: string) => void;
}

/** Folder of the quota counts within the user's state folder. */
function quotaFolderIn(stateFolder: string): string {
  return join(stateFolder, "quota");
}

/**
 * Counts the quotas of a service in the user's state folder. Where that cannot be written, they are
 * counted in a folder beside the output, and in memory where there is no output either; each is a
 * warning. What the one folder has counted is respected in the other.
 */
export function openQuotas(places: QuotaPlaces): QuotaStore {
  return new Quotas(places);
}

/** Tells how much is spent of a service's quotas, as far as the user's state folder says. */
export function readSpent({
  service,
  stateFolder,
  onWarning,
}: QuotaPlaces & { readonly stateFolder: string }): (
  scope: string,
  rate: Rate,
  nowMs: number,
) => number {
  const folder = quotaFolderIn(stateFolder);
  let counts = nothingCounted;
  try {
    counts = readQuotaCounts({ folder, service, onWarning });
  } catch (error) {
    onWarning(`cannot read the quota count in ${folder}: ${systemFault(error)}`);
  }
  return (scope, rate, nowMs) =>
    spentOf(entriesOf(counts, quotaName(scope, rate)), { rate, nowMs });
}

class Quotas implements QuotaStore {
  readonly #places: QuotaPlaces;
  readonly #inState: string | null;
  readonly #besideOutput: string | null;
  #store: QuotaStore;
  /** Folder in use; null for memory. */
  #folder: string | null;

  constructor(places: QuotaPlaces) {
    const { stateFolder, output = null } = places;
    this.#places = places;
    this.#inState = stateFolder === null ? null : quotaFolderIn(stateFolder);
    this.#besideOutput = output === null ? null : join(dirname(output), "repute-quota");
    this.#folder = this.#inState;
    if (this.#inState === null) {
      this.#store = this.#fallBack("neither XDG_STATE_HOME nor HOME is set");
    } else {
      this.#store = this.#open(this.#inState, this.#besideOutput);
    }
  }

  async reserve(name: string, options: ReserveOptions): Promise<Reservation> {
    for (;;) {
      const store = this.#store;
      try {
        return await store.reserve(name, options);
      } catch (error) {
        // Another quota of the service may have found out first.
        if (store === this.#store) this.#store = this.#fallBack(systemFault(error));
      }
    }
  }

  async settle(name: string, id: string, used: number, nowMs: number): Promise<void> {
    await this.#store.settle(name, id, used, nowMs);
  }

  /** The next place; memory, the last one, takes everything. */
  #fallBack(reason: string): QuotaStore {
    const { onWarning } = this.#places;
    const refused = this.#folder ?? "the user's state folder";
    const next = this.#folder === this.#besideOutput ? null : this.#besideOutput;
    this.#folder = next;
    const instead = next === null ? "for this run alone" : `in ${next} instead`;
    onWarning(
      `cannot count quotas in ${refused}: ${reason}; they are counted ${instead}; ` +
        "to count them across all runs, set XDG_STATE_HOME to a folder that you can write to",
    );
    if (next !== null) return this.#open(next, this.#inState);
    const earlier = this.#readOther(this.#inState) ?? nothingCounted;
    return new MemoryQuotaStore((name) => entriesOf(earlier, name));
  }

  #open(folder: string, other: string | null): QuotaStore {
    const { service, onWarning } = this.#places;
    return new QuotaFolder({ folder, service, onWarning, elsewhere: this.#readOther(other) });
  }

  #readOther(folder: string | null): QuotaCounts | undefined {
    if (folder === null) return undefined;
    const { service, onWarning } = this.#places;
    try {
      return readQuotaCounts({ folder, service, onWarning });
    } catch {
      // It cannot be read: the warning about it says that quotas are counted elsewhere.
      return undefined;
    }
  }
}
