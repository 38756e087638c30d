import type { Rate } from "../core/options.js";

/** Requests a second that no service minds, where nothing else is said. */
const customary: Rate = { count: 100, perMs: 1000 };

/** The rates to keep: those given, else 100 a second, and none for the embedded service. */
export function paceOf(rates: readonly Rate[] | undefined, local: boolean): readonly Rate[] {
  return rates ?? (local ? [] : [customary]);
}
