import { dirname, join } from "node:path";
import type { Rate } from "../../core/options.js";
import { storeFault } from "../store-fault.js";
import { entriesOf, emptyCounts, type QuotaCounts } from "./quota-file.js";
import { FolderQuotaStore, readQuotaCounts } from "./folder-quota-store.js";
import { quotaName } from "./quota.js";
import {
  MemoryQuotaStore,
  type QuotaStore,
  type Reservation,
  type ReserveOptions,
  reserveFrom,
  spentOf,
} from "./quota-store.js";

export interface QuotaLocations {
  /** Address of the service whose quotas are counted. */
  readonly service: string;
  /** The user's state folder (XDG_STATE_HOME); null if there is none. */
  readonly stateFolder: string | null;
  /**
   * Path of the output. Quotas are counted beside it if the state folder cannot be used; null for
   * no output.
   */
  readonly output?: string | null | undefined;
  /** Called when quotas are counted outside the state folder, and about damage. */
  readonly onWarning: (message: string) => void;
}

/** Folder of the quota counts in the state folder. */
function quotaFolderIn(stateFolder: string): string {
  return join(stateFolder, "quota");
}

/**
 * Counts a service's quotas in the user's state folder. If that is not writable, falls back to a
 * folder beside the output, then to memory, with a warning each. Counts of the folder given up
 * still apply.
 */
export function openQuotas(places: QuotaLocations): QuotaStore {
  return new Quotas(places);
}

type SavedQuotas = QuotaLocations & { readonly stateFolder: string };

/** Returns a function that tells how much of each quota is spent, according to the state folder. */
export function readSpent(
  places: SavedQuotas,
): (scope: string, rate: Rate, nowMs: number) => number {
  const counts = readSaved(places);
  return (scope, rate, nowMs) =>
    spentOf(entriesOf(counts, quotaName(scope, rate)), { rate, nowMs });
}

/** Returns a function that tells when each quota allows the next request, `nowMs` for at once. */
export function readFree(
  places: SavedQuotas,
): (scope: string, rate: Rate, nowMs: number) => number {
  const counts = readSaved(places);
  return (scope, rate, nowMs) => {
    const entries = entriesOf(counts, quotaName(scope, rate));
    const options = { rate, want: 1, nowMs, untilMs: nowMs };
    const { permits, nextAtMs } = reserveFrom(entries, options, "").reservation;
    return permits > 0 ? nowMs : nextAtMs;
  };
}

function readSaved({ service, stateFolder, onWarning }: SavedQuotas): QuotaCounts {
  const folder = quotaFolderIn(stateFolder);
  try {
    return readQuotaCounts({ folder, service, onWarning });
  } catch (error) {
    onWarning(`cannot read the quota count in ${folder}: ${storeFault(error)}`);
    return emptyCounts;
  }
}

class Quotas implements QuotaStore {
  readonly #places: QuotaLocations;
  readonly #inState: string | null;
  readonly #besideOutput: string | null;
  #store: QuotaStore;
  /** Folder in use; null for memory. */
  #folder: string | null;

  constructor(places: QuotaLocations) {
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
        // A concurrent call may have fallen back already.
        if (store === this.#store) this.#store = this.#fallBack(storeFault(error));
      }
    }
  }

  async settle(name: string, id: string, used: number, nowMs: number): Promise<void> {
    await this.#store.settle(name, id, used, nowMs);
  }

  /** Switches to the next location; memory, the last one, always works. */
  #fallBack(reason: string): QuotaStore {
    const { onWarning } = this.#places;
    const refused = this.#folder ?? "the user's state folder";
    const next = this.#folder === this.#besideOutput ? null : this.#besideOutput;
    this.#folder = next;
    const instead =
      next === null ? "this run counts them alone" : `counting them in ${next} instead`;
    onWarning(
      `cannot count quotas in ${refused}: ${reason}; ${instead}; ` +
        "to share the count between runs, set XDG_STATE_HOME to a writable folder",
    );
    if (next !== null) return this.#open(next, this.#inState);
    const earlier = this.#readOther(this.#inState) ?? emptyCounts;
    return new MemoryQuotaStore((name) => entriesOf(earlier, name));
  }

  #open(folder: string, other: string | null): QuotaStore {
    const { service, onWarning } = this.#places;
    return new FolderQuotaStore({ folder, service, onWarning, elsewhere: this.#readOther(other) });
  }

  #readOther(folder: string | null): QuotaCounts | undefined {
    if (folder === null) return undefined;
    const { service, onWarning } = this.#places;
    try {
      return readQuotaCounts({ folder, service, onWarning });
    } catch {
      // The warning about the unreadable folder is already out.
      return undefined;
    }
  }
}
