import { lookupEndpoints } from "../../core/finding.js";
import { ratesOf } from "../../lookup/options.js";
import type { WorkFolder } from "../chunks/work-folder.js";
import { mayQueue, perSecond } from "../lookup/open-connections.js";
import type { EnrichJob } from "../types.js";
import type { WorkerStart } from "./messages.js";

/** Most slots that all workers may have in stock: this share of those of a second, and each at most. */
const stock = { share: 0.01, most: 256 };

/** What each of the workers of a job has to know. */
export function startOf(job: EnrichJob, work: WorkFolder, workers: number): WorkerStart {
  const { settings, serviceName, embedded, stateFolder, apiKey, command } = job;
  return {
    type: "start",
    settings: {
      ...settings,
      resume: true,
      restart: false,
      concurrency: Math.max(1, Math.floor(settings.concurrency / workers)),
      // The parent keeps the rates, the budget and the deadline of the whole run.
      rate: undefined,
      rateQuery: undefined,
      rateQuickCheck: undefined,
      pace: undefined,
      priority: undefined,
      maxRequests: undefined,
      deadline: undefined,
    },
    ...(serviceName === undefined ? {} : { serviceName }),
    ...(embedded === undefined ? {} : { embedded }),
    ...(stateFolder === undefined ? {} : { stateFolder }),
    apiKey,
    command,
    work: work.name,
    shares: lookupEndpoints.filter((name) => ratesOf(name, settings).length > 0),
    mostAhead: stockOf(settings, workers),
  };
}

/**
 * Budgets and quotas count each request when it leaves, and a pace in Redis hands out slots for a
 * moment: both forbid a stock.
 */
function stockOf(settings: EnrichJob["settings"], workers: number): number {
  if (settings.pace !== undefined || !mayQueue(settings)) return 0;
  const rates = [settings.rate, ...lookupEndpoints.map((name) => ratesOf(name, settings))];
  const slowest = Math.min(...rates.map((each) => perSecond(each ?? [])));
  return Math.min(stock.most, Math.floor((stock.share * slowest) / workers));
}
