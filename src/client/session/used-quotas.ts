import { isQuota, type Rate } from "../../core/options.js";
import type { QuotaLocation, ScopedQuota } from "../store/quota/quota-file.js";
import { quotaOfAll } from "./paces.js";

/** Where the quotas of a service are counted. */
interface QuotaCounter extends Pick<QuotaLocation, "service" | "onWarning"> {
  readonly stateFolder: string | null;
}

/** The quotas among the rates of a run. */
export function quotasOf(rates: readonly Rate[] = []): readonly ScopedQuota[] {
  return rates.filter(isQuota).map((rate) => ({ scope: quotaOfAll, rate }));
}

/** How many requests count against each quota now; null if nothing can tell. */
export async function usedQuotas(
  counter: QuotaCounter,
  quotas: readonly ScopedQuota[],
  nowMs: number,
): Promise<readonly number[] | null> {
  const { service, stateFolder, onWarning } = counter;
  if (stateFolder === null) return null;
  const { readQuotas } = await import("../store/quota/quota-file.js");
  return readQuotas({ service, stateFolder, onWarning }, quotas, nowMs).map(({ spent }) => spent);
}
