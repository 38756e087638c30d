import { type Clock, systemClock } from "../../core/clock.js";
import { FatalError } from "../../core/errors.js";
import type {
  Connect,
  ConnectOptions,
  TableDatabase,
  TableTarget,
} from "../warehouse/table-database.js";
import type { PublicationOptions } from "../publication.js";

function connecting(
  { signal, clock, onWarning = () => undefined }: PublicationOptions,
  access: ConnectOptions["access"],
): ConnectOptions {
  return { access, onWarning, ...(signal && { signal }), ...(clock && { clock }) };
}

/**
 * How often to try, a second apart, to open a file that another program has open: less often at the
 * start of a run, where a person may be waiting.
 */
const attempts = { check: 10, write: 60 };

/** Opens a database whose file another run may be publishing to. */
export async function openPatiently<T extends TableTarget>(
  connect: Connect<T>,
  target: T,
  options: PublicationOptions,
  access: keyof typeof attempts = "write",
): Promise<TableDatabase> {
  const { clock = systemClock, signal }: { clock?: Clock; signal?: AbortSignal } = options;
  for (let attempt = 1; ; attempt++) {
    try {
      return await connect(target, connecting(options, access));
    } catch (error) {
      const isLocked = error instanceof FatalError && error.code === "output_locked";
      if (!isLocked || attempt === attempts[access]) throw error;
    }
    await clock.sleep(1_000, signal);
  }
}
