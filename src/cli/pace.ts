import type { Rate } from "../core/options.js";

/** Requests a second that no service minds, where nothing else is said. */
const customary: Rate = { count: 100, perMs: 1000 };

/** The rate to keep: the one given, else 100 a second, and none for the embedded service. */
export function paceOf(rate: Rate | undefined, local: boolean): Rate | undefined {
  return rate ?? (local ? undefined : customary);
}
