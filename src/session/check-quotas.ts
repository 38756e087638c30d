import { systemClock } from "../core/clock.js";
import { userStateFolder } from "../core/files/make-folder.js";
import type { EnrichJob } from "../run/types.js";
import { quotaUsedUp } from "./open-connections.js";
import { freeQuotas, quotasOf } from "./used-quotas.js";

/** A run waits for a quota that is free again this soon, in milliseconds. */
const shortMs = 60_000;

/**
 * Checks that the quotas leave a new run at least one request, before it discards an earlier one.
 *
 * @throws EarlyEndError `quota_used_up`; as `freeQuotas`
 */
export async function checkQuotasLeft(job: EnrichJob): Promise<void> {
  const { settings, shared, embedded, clock = systemClock, onWarning = () => undefined } = job;
  const { stateFolder = userStateFolder(process.env) } = job;
  const { intelUrl: service, pace } = settings;
  const quotas = quotasOf(settings);
  if (quotas.length === 0 || embedded === true || shared?.pace !== undefined) return;
  if (service === undefined) return;
  const now = clock.now();
  const free = await freeQuotas({ pace, service, stateFolder, onWarning }, quotas, now);
  for (const [at, { rate }] of quotas.entries()) {
    const freeAt = free?.[at] ?? now;
    if (freeAt - now > shortMs) throw quotaUsedUp(rate, freeAt);
  }
}
