import { systemClock } from "../../core/clock.js";
import { userStateFolder } from "../../core/files/make-folder.js";
import { lookupEndpoints } from "../../core/finding.js";
import { isQuota, type Rate } from "../../core/options.js";
import { ratesOf } from "../../lookup/options.js";
import type { EnrichJob } from "../types.js";
import { quotaOfAll, quotaUsedUp } from "./open-connections.js";

/** A run waits for a quota that is free again this soon, in milliseconds. */
const shortMs = 60_000;

/**
 * Checks that the quotas leave a new run at least one request, before it discards an earlier one.
 *
 * @throws EarlyEndError `quota_used_up`
 */
export async function checkQuotasLeft(job: EnrichJob): Promise<void> {
  const { settings, shared, embedded, clock = systemClock, onWarning = () => undefined } = job;
  const { stateFolder = userStateFolder(process.env) } = job;
  const { intelUrl: service } = settings;
  const rates: readonly (readonly [scope: string, rate: Rate])[] = [
    ...(settings.rate ?? []).map((rate) => [quotaOfAll, rate] as const),
    ...lookupEndpoints.flatMap((name) =>
      ratesOf(name, settings).map((rate) => [name, rate] as const),
    ),
  ].filter(([, rate]) => isQuota(rate));
  if (rates.length === 0 || embedded === true || shared?.pace !== undefined) return;
  if (stateFolder === null || service === undefined) return;
  const { readFree } = await import("../../store/quota/open-quotas.js");
  const freeAt = readFree({ service, stateFolder, onWarning });
  const now = clock.now();
  for (const [scope, rate] of rates) {
    const at = freeAt(scope, rate, now);
    if (at - now > shortMs) throw quotaUsedUp(rate, at);
  }
}
