import type { Clock } from "../core/clock.js";
import { quotaUsedUp } from "./paces.js";
import type { Session } from "./session.js";
import { freeQuotas, quotasOf } from "./used-quotas.js";

/** A run waits for a quota that is free again this soon, in milliseconds. */
const shortMs = 60_000;

/**
 * Checks that the quotas leave a new run at least one request, before it discards an earlier one.
 *
 * @throws EarlyEndError `quota_used_up`; as `freeQuotas`
 */
export async function checkQuotasLeft(
  { service, settings, stateFolder, sharesPace }: Session,
  clock: Clock,
  onWarning: (message: string) => void,
): Promise<void> {
  const quotas = quotasOf(settings);
  if (quotas.length === 0 || service.embedded || sharesPace) return;
  const now = clock.now();
  const { pace } = settings;
  const free = await freeQuotas(
    { pace, service: service.url, stateFolder, onWarning },
    quotas,
    now,
  );
  for (const [at, { rate }] of quotas.entries()) {
    const freeAt = free?.[at] ?? now;
    if (freeAt - now > shortMs) throw quotaUsedUp(rate, freeAt);
  }
}
